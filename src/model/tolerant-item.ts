// Reads an output item of a provider. What is only half right is repaired as far as its meaning is certain, so that the layers above
// can answer it; what stays unreadable is left out.
import { type ResponseItem, readResponseItem } from '../protocol/response-item.ts';

type Raw = Record<string, unknown>;

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
const isRecord = (value: unknown): value is Raw => typeof value === 'object' && value !== null && !Array.isArray(value);

function callIdOf(raw: Raw): Raw {
  const { call_id: id, ...rest } = raw;
  if (typeof id === 'string') return raw;
  return typeof id === 'number' ? { ...rest, call_id: String(id) } : rest;
}

const typedParts = (value: unknown, asPart: (text: string) => Raw): unknown[] => {
  if (typeof value === 'string') return value ? [asPart(value)] : [];
  return Array.isArray(value) ? value.filter((part) => isRecord(part) && typeof part.type === 'string') : [];
};

const REPAIRS: Record<string, (raw: Raw) => Raw> = {
  message: (raw) => ({
    ...raw,
    role: typeof raw.role === 'string' ? raw.role : 'assistant',
    content: typedParts(raw.content, (text) => ({ type: 'output_text', text })),
  }),
  reasoning: (raw) => ({
    ...raw,
    summary: typedParts(raw.summary, (text) => ({ type: 'summary_text', text })).filter(
      (part) => isRecord(part) && typeof part.text === 'string',
    ),
  }),
  function_call: (raw) => ({ ...callIdOf(raw), name: asText(raw.name), arguments: asText(raw.arguments) }),
  custom_tool_call: (raw) => ({ ...callIdOf(raw), name: asText(raw.name), input: asText(raw.input) }),
  local_shell_call: (raw) => ({
    ...raw,
    action: isRecord(raw.action) && typeof raw.action.type === 'string' ? raw.action : { type: 'unknown' },
  }),
};

export function readOutputItem(value: unknown): ResponseItem | undefined {
  const plain = readResponseItem(value);
  if (plain.ok) return plain.item;
  if (!isRecord(value) || typeof value.type !== 'string') return undefined;
  const repair = REPAIRS[value.type];
  if (!repair) return undefined;
  const repaired = readResponseItem(repair(value));
  return repaired.ok ? repaired.item : undefined;
}
