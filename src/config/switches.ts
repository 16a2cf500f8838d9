// Reading the two kinds of switches: `[features]`, and `[tools]`, where a tool is a boolean or a table with `enabled`.
import type { ConfigTable } from './schema.ts';
import { isTable } from './table.ts';

function isOn(value: unknown, fallback: boolean): boolean {
  if (typeof value === 'boolean') return value;
  if (!isTable(value)) return fallback;
  return typeof value.enabled === 'boolean' ? value.enabled : true;
}

export const featureEnabled = (config: ConfigTable, name: string, fallback = false): boolean =>
  isOn(config.features && Object.hasOwn(config.features, name) ? config.features[name] : undefined, fallback);

export const toolEnabled = (config: ConfigTable, name: string, fallback: boolean): boolean =>
  isOn(config.tools && Object.hasOwn(config.tools, name) ? config.tools[name] : undefined, fallback);
