// What a server says of a tool, read leniently: one odd entry is left out and named, the others are used. The digest of a definition
// is what an approval is bound to: a tool that changes afterwards is another tool.
import { createHash } from 'node:crypto';
import { headOf } from '../common/text.ts';

/** What a description may bring into the prompt. */
const MAX_DESCRIPTION = 16 * 1024;
const MAX_INSTRUCTIONS = 32 * 1024;

export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface ToolDefinition {
  /** As the server calls it. */
  readonly name: string;
  readonly title: string | null;
  readonly description: string;
  /** As it came; it may be no schema at all. */
  readonly inputSchema: unknown;
  readonly outputSchema: unknown;
  readonly annotations: ToolAnnotations | null;
  /** The whole entry as it came, for clients. */
  readonly raw: Readonly<Record<string, unknown>>;
  readonly digest: string;
}

/** Control characters, marks that turn the reading direction and invisible tags can hide text from whoever reads it; they go. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/gu;

function cleanText(text: unknown, limit: number): string {
  if (typeof text !== 'string') return '';
  const visible = text.replace(HIDDEN, '').trim();
  return visible.length <= limit ? visible : `${headOf(visible, limit)}…`;
}

export const cleanInstructions = (text: unknown): string => cleanText(text, MAX_INSTRUCTIONS);

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

function annotationsOf(value: unknown): ToolAnnotations | null {
  if (!isObject(value)) return null;
  const hint = (name: string) => (typeof value[name] === 'boolean' ? { [name]: value[name] } : {});
  return {
    ...(typeof value.title === 'string' ? { title: cleanText(value.title, 200) } : {}),
    ...hint('readOnlyHint'),
    ...hint('destructiveHint'),
    ...hint('idempotentHint'),
    ...hint('openWorldHint'),
  };
}

/** Members in a fixed order: a server may write the same definition in another one. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, canonical(value[key])]),
  );
}

export function readTool(entry: unknown): ToolDefinition | null {
  if (!isObject(entry) || typeof entry.name !== 'string' || entry.name === '') return null;
  const { _meta: _ignored, icons: _icons, ...meaning } = entry;
  return {
    name: entry.name,
    title: typeof entry.title === 'string' ? cleanText(entry.title, 200) : null,
    description: cleanText(entry.description, MAX_DESCRIPTION),
    inputSchema: entry.inputSchema,
    outputSchema: entry.outputSchema,
    annotations: annotationsOf(entry.annotations),
    raw: entry,
    digest: createHash('sha256')
      .update(JSON.stringify(canonical(meaning)))
      .digest('hex')
      .slice(0, 32),
  };
}
