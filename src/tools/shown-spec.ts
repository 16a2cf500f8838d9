// A function's spec as a model reads it: what its schema says, in the form that providers take.
import type { FunctionSpec } from '../protocol/tool-spec.ts';
import { readSchema } from './schema-normalise.ts';

const shown = new WeakMap<FunctionSpec, FunctionSpec>();

/** Made once for a spec; the same object when nothing had to change. The registry refuses what cannot be made readable. */
export function shownSpec(spec: FunctionSpec): FunctionSpec {
  let known = shown.get(spec);
  if (!known) {
    const read = readSchema(spec.parameters);
    shown.set(spec, (known = read.ok && read.changed ? { ...spec, parameters: read.schema } : spec));
  }
  return known;
}
