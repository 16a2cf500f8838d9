// What clients are shown of the configuration: config/read, configRequirements/read and warnings, as data. Secrets are blanked here.
import { createHash } from 'node:crypto';
import path from 'node:path';
import { assertNever } from '../common/assert-never.ts';
import type {
  ConfigLayerMetadata,
  ConfigReadResponse,
  ConfigRequirementsReadResponse,
  ConfigWarningNotification,
  ConfigLayer as WireLayer,
} from '../protocol/config.ts';
import { parsePath } from './key-path.ts';
import type { ConfigLayer, ConfigWarning } from './layer.ts';
import type { LoadedConfig } from './load.ts';
import { isTable, type ReadonlyTable, valueAt } from './table.ts';
import { locate } from './toml-lines.ts';

/** Stands for a secret in what clients read. Writing it back is refused: see edit.ts. */
export const REDACTED = '[redacted]';

/** Tables from free names to values, in which a name tells whether the value is a secret. */
const NAMED_VALUES = new Set(['http_headers', 'query_params', 'env', 'set']);
const SECRET_NAME = /key|secret|token|password|passwd|auth|cookie|credential/i;
const SECRET_KEY = /(^|_)(bearer_token|client_secret|api_key|password)$/;

function blank(value: unknown, key: string, inNamedValues: boolean): unknown {
  if (Array.isArray(value)) return value.map((inner) => blank(inner, '', false));
  if (isTable(value)) {
    const named = NAMED_VALUES.has(key);
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, blank(inner, name, named)]));
  }
  return isSecret(value, key, inNamedValues) ? REDACTED : value;
}

function isSecret(value: unknown, key: string, inNamedValues: boolean): boolean {
  return typeof value === 'string' && value !== '' && (inNamedValues ? SECRET_NAME : SECRET_KEY).test(key);
}

function dropped(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value.map((inner) => dropped(inner, ''));
  if (!isTable(value)) return value;
  const named = NAMED_VALUES.has(key);
  const kept = Object.entries(value).filter(([name, inner]) => !isSecret(inner, name, named));
  return Object.fromEntries(kept.map(([name, inner]) => [name, dropped(inner, name)]));
}

/** The `config` of a thread as it may be kept on disk: keys dotted or not, what holds a secret left out. */
export function withoutSecretKeys(given: ReadonlyTable): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [dotted, value] of Object.entries(given)) {
    const keyPath = parsePath(dotted) ?? [dotted];
    const last = keyPath.at(-1) ?? dotted;
    if (!isSecret(value, last, NAMED_VALUES.has(keyPath.at(-2) ?? ''))) kept[dotted] = dropped(value, last);
  }
  return kept;
}

/** A copy without secrets, for the wire and for `config check`. */
export const withoutSecrets = (value: unknown): unknown => blank(value, '', false);

export const versionOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** Null for the built-in values: they have no file that a client could name. */
function sourceOf(layer: ConfigLayer): ConfigLayerMetadata['name'] | null {
  const file = layer.file ?? '';
  switch (layer.kind) {
    case 'defaults':
      return null;
    case 'system':
      return { type: 'system', file };
    case 'user':
    case 'profile':
      return { type: 'user', file, profile: layer.profile ?? null };
    case 'project':
      return { type: 'project', dotCodexFolder: path.dirname(file) };
    case 'flags':
    case 'thread':
      return { type: 'sessionFlags' };
    default:
      return assertNever(layer.kind, 'layer');
  }
}

/** The file's version, so that a client can ask for "write only if unchanged"; of what has no file, that of its content. */
export function layerMetadata(layer: ConfigLayer): ConfigLayerMetadata | null {
  const name = sourceOf(layer);
  return name && { name, version: versionOf(layer.file === null ? JSON.stringify(layer.table) : layer.text) };
}

/** Scalars that clients look up without asking whether they are there. */
const ALWAYS_PRESENT = [
  'compact_prompt',
  'developer_instructions',
  'instructions',
  'model_auto_compact_token_limit',
  'model_context_window',
  'model_reasoning_effort',
  'model_reasoning_summary',
  'model_verbosity',
  'review_model',
  'sandbox_workspace_write',
  'service_tier',
  'tools',
  'web_search',
];

export function configReadResponse(loaded: LoadedConfig, includeLayers = false): ConfigReadResponse {
  const config = withoutSecrets(loaded.config) as Record<string, unknown>;
  for (const key of ALWAYS_PRESENT) config[key] ??= null;
  // The wire's policies have no `on-failure`; this is how it is treated.
  if (config.approval_policy === 'on-failure') config.approval_policy = 'on-request';
  const metadata = new Map(loaded.layers.map((layer) => [layer, layerMetadata(layer)]));
  const origins: Record<string, ConfigLayerMetadata> = {};
  for (const [key, { layer }] of loaded.origins) {
    const found = metadata.get(layer);
    if (found) origins[key] = found;
  }
  if (!includeLayers) return { config, origins, layers: null };
  const layers: WireLayer[] = [];
  for (const layer of loaded.layers.toReversed()) {
    const found = metadata.get(layer);
    if (!found) continue;
    const { disabledReason } = layer;
    layers.push({ ...found, config: withoutSecrets(layer.table), ...(disabledReason === null ? {} : { disabledReason }) });
  }
  return { config, origins, layers };
}

/** Nobody manages this installation from outside: there are no requirements. */
export const configRequirementsResponse = (): ConfigRequirementsReadResponse => ({
  requirements: null,
  supportsIndependentSpeedModes: false,
});

export interface ExplainedValue {
  readonly key: string;
  readonly value: unknown;
  /** Where it comes from, for a person: `built-in`, `/h/config.toml:3`, `-c`. */
  readonly source: string;
}

function placeOf(layer: ConfigLayer, keyPath: readonly string[]): string {
  if (layer.kind === 'defaults') return 'built-in';
  if (layer.file === null) return layer.kind === 'flags' ? '-c' : 'config of the thread';
  const inside = layer.profile === undefined ? [] : ['profiles', layer.profile];
  const line = locate(layer.text, [...inside, ...keyPath])?.line;
  return `${layer.file}${line === undefined ? '' : `:${line}`}${layer.profile === undefined ? '' : ` (profile ${layer.profile})`}`;
}

/** Every value in force with its source, sorted by key, without secrets: what `config check` prints. */
export function explainConfig(loaded: LoadedConfig): ExplainedValue[] {
  const shown = withoutSecrets(loaded.config);
  const explained = [...loaded.origins].map(([key, { layer }]) => {
    const keyPath = parsePath(key) ?? [];
    return { key, value: valueAt(shown, keyPath), source: placeOf(layer, keyPath) };
  });
  return explained.sort((a, b) => (a.key < b.key ? -1 : 1));
}

export function warningNotification(warning: ConfigWarning): ConfigWarningNotification {
  const { summary, details, file, position } = warning;
  const range = position && {
    start: { line: position.line, column: position.column },
    end: { line: position.endLine, column: position.endColumn },
  };
  return { summary, details, path: file, range };
}
