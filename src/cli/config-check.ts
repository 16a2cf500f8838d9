// `harnessd config check`: the values in force with the place that each comes from, and what is wrong with the files. Loaded on use only.
import { type LoadOptions, loadConfig } from '../config/load.ts';
import { explainConfig } from '../config/read.ts';

export interface CommandResult {
  readonly text: string;
  readonly exitCode: number;
}

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'null';
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
};

const longest = (texts: readonly string[]): number => Math.max(0, ...texts.map((text) => text.length));

/** Exit code 1 for a configuration that cannot be loaded; warnings alone are no failure. */
export async function configCheck(options: LoadOptions): Promise<CommandResult> {
  const loaded = await loadConfig(options);
  if (!loaded.ok) return { text: `The configuration cannot be used:\n${indented(loaded.error.message)}`, exitCode: 1 };
  const rows = explainConfig(loaded).map(({ key, value, source }) => ({ key, value: shown(value), source }));
  const keyWidth = longest(rows.map(({ key }) => key));
  const valueWidth = Math.min(60, longest(rows.map(({ value }) => value)));
  const lines = rows.map(({ key, value, source }) => `${key.padEnd(keyWidth)} = ${value.padEnd(valueWidth)}  # ${source}`);
  const layers = loaded.layers
    .filter(({ kind }) => kind !== 'defaults')
    .map(({ kind, file, profile, disabledReason }) => {
      const name = profile === undefined ? kind : `${kind} ${profile}`;
      return `  ${name.padEnd(10)} ${file ?? '(no file)'}${disabledReason === null ? '' : ` (not read: ${disabledReason})`}`;
    });
  const warnings = loaded.warnings.flatMap(({ summary, details }) => [`  ${summary}`, ...(details ? [`    ${details}`] : [])]);
  const parts = [['# Layers, each over the ones before', ...layers], lines];
  if (warnings.length > 0)
    parts.push([`# ${loaded.warnings.length === 1 ? '1 warning' : `${loaded.warnings.length} warnings`}`, ...warnings]);
  return { text: parts.map((part) => `${part.join('\n')}\n`).join('\n'), exitCode: 0 };
}

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => `  ${line}\n`)
    .join('');
