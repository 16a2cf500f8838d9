// Writes one value as TOML on one line. Files are never written whole, so this is all the writing there is.
import { sourceError } from './config-error.ts';
import { formatKey, quoteToml } from './key-path.ts';
import { isTable } from './table.ts';

const LONE_SURROGATE = /\p{Cs}/u;

function formatNumber(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  // Beyond the safe range an integer would be refused when it is read: written as a float it keeps its value.
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : String(value);
}

/** Throws ConfigError for what TOML cannot hold: null in a list, half a surrogate pair, a function. */
export function formatValue(value: unknown): string {
  if (typeof value === 'string') {
    if (LONE_SURROGATE.test(value)) throw sourceError('a text with half a surrogate pair cannot be written');
    return quoteToml(value);
  }
  if (typeof value === 'number') return formatNumber(value);
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return `[${value.map(formatValue).join(', ')}]`;
  if (!isTable(value)) throw sourceError(`${value === null ? 'null inside a list' : `a ${typeof value}`} cannot be written as TOML`);
  const entries = Object.entries(value).map(([key, inner]) => `${formatKey(key)} = ${formatValue(inner)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}
