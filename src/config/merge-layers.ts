// Lays the layers over each other and remembers which one decided each value.
import { formatPath } from './key-path.ts';
import type { ConfigLayer } from './layer.ts';
import type { ConfigTable } from './schema.ts';
import { copyOf, isTable, type Table } from './table.ts';

export interface Origin {
  readonly layer: ConfigLayer;
}

export interface MergedLayers {
  config: ConfigTable;
  origins: Map<string, Origin>;
}

/** Hook groups add up over the layers, lowest first: a project or a thread must not switch off what the user guards with. */
const addsUp = (path: readonly string[]): boolean => path.length === 2 && path[0] === 'hooks';

function mergeInto(target: Table, layer: ConfigLayer, source: Table, path: readonly string[], origins: Map<string, Origin>): void {
  for (const [key, value] of Object.entries(source)) {
    const at = [...path, key];
    const dotted = formatPath(at);
    const before = Object.hasOwn(target, key) ? target[key] : undefined;
    if (isTable(value)) {
      if (!isTable(before)) origins.delete(dotted);
      const table: Table = isTable(before) ? before : {};
      target[key] = table;
      mergeInto(table, layer, value, at, origins);
      continue;
    }
    if (isTable(before)) for (const known of origins.keys()) if (known.startsWith(`${dotted}.`)) origins.delete(known);
    target[key] = addsUp(at) && Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : copyOf(value);
    origins.set(dotted, { layer });
  }
}

/** The result shares nothing with the layers. */
export function mergeLayers(layers: readonly ConfigLayer[]): MergedLayers {
  const config: Table = {};
  const origins = new Map<string, Origin>();
  for (const layer of layers) mergeInto(config, layer, layer.table as Table, [], origins);
  return { config: config as ConfigTable, origins };
}
