// What an extension says it offers, checked before any of it is believed. One problem leaves out the whole extension: half of one would
// surprise its user more than none.
import { preview } from '../../common/text.ts';
import { HOOK_EVENT_NAMES, type HookEvent, isHookEvent } from '../../hooks/hook-event.ts';
import { normaliseSchema } from '../schema-normalise.ts';
import { RESERVED_NAMESPACES } from './dynamic-specs.ts';

export type ExtensionApproval = 'auto' | 'always' | 'never';

export interface ExtensionToolFacts {
  readonly index: number;
  readonly name: string;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
  readonly readOnly: boolean;
  readonly approval: ExtensionApproval;
  readonly parallel: boolean;
  readonly deferred: boolean;
  readonly timeoutMs: number;
}

export interface ExtensionHookFacts {
  readonly index: number;
  readonly event: HookEvent;
  readonly matcher?: string;
  readonly timeoutSec?: number;
  readonly failClosed: boolean;
  readonly statusMessage?: string;
}

export interface ExtensionManifest {
  readonly name: string;
  readonly description: string;
  /** Null: its tools have plain names. */
  readonly namespace: string | null;
  readonly tools: readonly ExtensionToolFacts[];
  readonly hooks: readonly ExtensionHookFacts[];
}

export type ManifestReading = { ok: true; manifest: ExtensionManifest } | { ok: false; problem: string };

const MAX_TOOLS = 64;
const MAX_HOOKS = 32;
/** Of all tools together, as the model would read them. */
const MAX_SPEC_BYTES = 256 * 1024;
const MAX_DESCRIPTION_BYTES = 1024;
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 3_600_000;

class ManifestProblem extends Error {}
const refuse = (problem: string): never => {
  throw new ManifestProblem(problem);
};

type Raw = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Raw => typeof value === 'object' && value !== null && !Array.isArray(value);
const shown = (value: unknown): string => preview(JSON.stringify(value) ?? 'nothing', 80);

function nameOf(what: string, value: unknown): string {
  if (typeof value !== 'string' || !NAME.test(value))
    return refuse(`${what}: expected 1 to 64 letters, digits, _ or -, got ${shown(value)}`);
  return value;
}

function flagOf(what: string, value: unknown, otherwise: boolean): boolean {
  if (value === undefined || value === null) return otherwise;
  return typeof value === 'boolean' ? value : refuse(`${what}: expected true or false, got ${shown(value)}`);
}

function positive(what: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'number' && value > 0 ? value : refuse(`${what}: expected a positive number, got ${shown(value)}`);
}

function optionalText(what: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : refuse(`${what}: expected a text, got ${shown(value)}`);
}

function approvalOf(what: string, value: unknown): ExtensionApproval {
  if (value === undefined || value === null) return 'auto';
  if (value === 'auto' || value === 'always' || value === 'never') return value;
  return refuse(`${what}: expected "auto", "always" or "never", got ${shown(value)}`);
}

function readTool(raw: Raw, index: number): ExtensionToolFacts {
  const name = nameOf(`tools[${index}].name`, raw.name);
  const where = `the tool ${name}`;
  if (typeof raw.description !== 'string' || raw.description === '') refuse(`${where}: description: expected a text`);
  if (raw.run !== true) refuse(`${where}: run: expected a function`);
  const parameters = normaliseSchema(raw.parameters);
  if (!parameters.ok) return refuse(`${where}: input: ${parameters.problem}`);
  const readOnly = flagOf(`${where}: readOnly`, raw.readOnly, false);
  return {
    index,
    name,
    description: raw.description as string,
    parameters: parameters.schema,
    readOnly,
    approval: approvalOf(`${where}: approval`, raw.approval),
    parallel: flagOf(`${where}: parallel`, raw.parallel, readOnly),
    deferred: flagOf(`${where}: deferLoading`, raw.deferLoading, false),
    timeoutMs: Math.min(MAX_TIMEOUT_MS, positive(`${where}: timeoutMs`, raw.timeoutMs) ?? DEFAULT_TIMEOUT_MS),
  };
}

function readHook(raw: Raw, index: number): ExtensionHookFacts {
  const { event } = raw;
  if (typeof event !== 'string' || !isHookEvent(event))
    return refuse(`hooks: there is no event ${shown(event)}; events are ${HOOK_EVENT_NAMES.join(', ')}`);
  if (raw.run !== true) refuse(`the ${event} hook: expected a function, or an object with a function "run"`);
  const matcher = optionalText(`the ${event} hook: matcher`, raw.matcher);
  const timeoutSec = positive(`the ${event} hook: timeoutSec`, raw.timeoutSec);
  const statusMessage = optionalText(`the ${event} hook: statusMessage`, raw.statusMessage);
  return {
    index,
    event,
    failClosed: flagOf(`the ${event} hook: failClosed`, raw.failClosed, false),
    ...(matcher === undefined ? {} : { matcher }),
    ...(timeoutSec === undefined ? {} : { timeoutSec }),
    ...(statusMessage === undefined ? {} : { statusMessage }),
  };
}

function namespaceOf(name: string, value: unknown): string | null {
  if (value === false) return null;
  const namespace = value === undefined || value === null || value === true ? name : nameOf('namespace', value);
  if (RESERVED_NAMESPACES.has(namespace) || namespace === 'mcp' || namespace.startsWith('mcp__'))
    refuse(`the namespace ${namespace} is reserved; choose another name, or set namespace`);
  return namespace;
}

function readAll(value: unknown): ExtensionManifest {
  if (!isObject(value)) return refuse('it describes nothing');
  const name = nameOf('name', value.name);
  const description = optionalText('description', value.description) ?? `Tools of the extension ${name}.`;
  if (Buffer.byteLength(description) > MAX_DESCRIPTION_BYTES) refuse(`description: at most ${MAX_DESCRIPTION_BYTES} bytes`);
  const tools = (value.tools as Raw[]).map(readTool);
  const hooks = (value.hooks as Raw[]).map(readHook);
  if (tools.length > MAX_TOOLS) refuse(`it registers ${tools.length} tools; at most ${MAX_TOOLS} are taken`);
  if (hooks.length > MAX_HOOKS) refuse(`it registers ${hooks.length} hooks; at most ${MAX_HOOKS} are taken`);
  const twice = tools.find((tool, i) => tools.findIndex((other) => other.name === tool.name) < i);
  if (twice) refuse(`it has two tools of the name ${twice.name}`);
  const bytes = Buffer.byteLength(JSON.stringify(tools));
  if (bytes > MAX_SPEC_BYTES) refuse(`its tools take ${bytes} bytes of description and schema; at most ${MAX_SPEC_BYTES} are taken`);
  return { name, description, namespace: namespaceOf(name, value.namespace), tools, hooks };
}

export function readManifest(value: unknown): ManifestReading {
  try {
    return { ok: true, manifest: readAll(value) };
  } catch (error) {
    if (error instanceof ManifestProblem) return { ok: false, problem: error.message };
    throw error;
  }
}
