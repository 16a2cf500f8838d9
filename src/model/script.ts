// The form of a script for the scripted model: read, checked, and matched against a request. A mistake is named with its line and key.
//
// A script is a JSON array of replies, or JSON Lines with one reply a line. A reply is a list of parts, or one part, or
// {"when": "text or /regex/", "reply": …}: used each time the newest user text or tool output matches; the others come in order, once.
import { type ResponseItem, readResponseItem } from '../protocol/response-item.ts';
import { ModelError, type ModelErrorKind } from './client.ts';

export type ScriptPart =
  | { type: 'say'; text: string; phase?: string }
  | { type: 'think'; text: string }
  | { type: 'call'; name: string; namespace?: string; arguments: string; id?: string }
  | { type: 'custom'; name: string; input: string; id?: string }
  | { type: 'search'; arguments: Record<string, unknown>; id?: string }
  | { type: 'delay'; ms: number }
  | { type: 'usage'; usage: Record<string, number> }
  | { type: 'fail'; kind: ModelErrorKind; message: string; retryAfterMs?: number; httpStatus?: number }
  | { type: 'cut' }
  | { type: 'hang' }
  | { type: 'item'; item: ResponseItem };

export interface ScriptReply {
  when?: (newest: string) => boolean;
  parts: ScriptPart[];
}

type Raw = Record<string, unknown>;

/** For each part: the keys that may stand beside it. */
const PARTS: Record<string, readonly string[]> = {
  say: ['phase'],
  think: [],
  call: ['args', 'id', 'namespace'],
  custom: ['input', 'id'],
  search: ['limit', 'id'],
  delayMs: [],
  usage: [],
  fail: [],
  cut: [],
  hang: [],
  item: [],
};
const FAILURES: Record<Exclude<ModelErrorKind, 'aborted'>, number | undefined> = {
  unauthorized: 401,
  forbidden: 403,
  notFound: 404,
  badRequest: 400,
  rateLimited: 429,
  quotaExceeded: 429,
  contextWindowExceeded: 400,
  overloaded: 503,
  serverError: 500,
  connection: undefined,
  streamCut: undefined,
  idleTimeout: undefined,
  incomplete: undefined,
  policy: undefined,
  protocol: undefined,
  other: undefined,
};

const isRecord = (value: unknown): value is Raw => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Where a mistake is; thrown texts begin with it. */
class Place {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  at(detail: string): Place {
    return new Place(`${this.#text}, ${detail}`);
  }

  fail(problem: string): never {
    throw new ModelError('badRequest', `${this.#text}: ${problem}`);
  }

  text(raw: Raw, key: string): string {
    const value = raw[key];
    return typeof value === 'string' ? value : this.fail(`"${key}" must be a string, not ${JSON.stringify(value) ?? 'absent'}`);
  }

  optionalText(raw: Raw, key: string): string | undefined {
    return raw[key] === undefined ? undefined : this.text(raw, key);
  }

  number(raw: Raw, key: string): number {
    const value = raw[key];
    const fine = typeof value === 'number' && Number.isFinite(value) && value >= 0;
    return fine ? value : this.fail(`"${key}" must be a number of 0 or more, not ${JSON.stringify(value) ?? 'absent'}`);
  }

  record(raw: Raw, key: string): Raw {
    const value = raw[key];
    return isRecord(value) ? value : this.fail(`"${key}" must be an object, not ${JSON.stringify(value) ?? 'absent'}`);
  }
}

export function parseScript(text: string, file: string): ScriptReply[] {
  return rawReplies(text, file).map(({ line, value }, index) =>
    readReply(value, new Place(`script ${file}, line ${line}, reply ${index + 1}`)),
  );
}

function rawReplies(text: string, file: string): { line: number; value: unknown }[] {
  const lines = text.split(/\r?\n/).map((source, index) => ({ source, line: index + 1 }));
  const filled = lines.filter(({ source }) => source.trim() !== '');
  const asLines = /\.(?:jsonl|ndjson)$/i.test(file) || (filled.length > 1 && filled.every(({ source }) => isJson(source)));
  if (asLines) return filled.map(({ source, line }) => ({ line, value: parseAt(source, file, line) }));
  if (filled.length === 0) return [];
  const value = parseAt(text, file, 1);
  if (!Array.isArray(value)) return [{ line: filled[0].line, value }];
  const starts = elementLines(text);
  return value.map((reply: unknown, index) => ({ line: starts[index] ?? 1, value: reply }));
}

function isJson(source: string): boolean {
  try {
    JSON.parse(source);
    return true;
  } catch {
    return false;
  }
}

function parseAt(source: string, file: string, firstLine: number): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ModelError('badRequest', `script ${file}, line ${firstLine + brokenLine(source)}: not JSON: ${message}`);
  }
}

/** The first line (from 0) with which the text is more than a cut-off beginning of JSON. The parser itself rarely says where. */
function brokenLine(source: string): number {
  const lines = source.split('\n');
  for (let count = 1; count < lines.length; count++) {
    try {
      JSON.parse(lines.slice(0, count).join('\n'));
    } catch (error) {
      if (!(error instanceof Error) || !/end of JSON input|Unterminated string/i.test(error.message)) return count - 1;
    }
  }
  return lines.length - 1;
}

/** The line on which each element of the outermost array begins. The text is known to be JSON. */
function elementLines(text: string): number[] {
  const found: number[] = [];
  let depth = 0;
  let line = 1;
  let expecting = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '\n') line++;
    if (/\s/.test(char)) continue;
    if (expecting && depth === 1 && char !== ']') {
      found.push(line);
      expecting = false;
    }
    if (char === '"') {
      for (i++; text[i] !== '"'; i++) if (text[i] === '\\') i++;
    } else if (char === '[' || char === '{') {
      if (depth++ === 0) expecting = true;
    } else if (char === ']' || char === '}') depth--;
    else if (char === ',' && depth === 1) expecting = true;
  }
  return found;
}

function readReply(value: unknown, place: Place): ScriptReply {
  if (isRecord(value) && ('when' in value || 'reply' in value)) {
    for (const key of Object.keys(value))
      if (key !== 'when' && key !== 'reply') place.fail(`unknown key "${key}" beside "when" and "reply"`);
    return { when: matcher(place.text(value, 'when'), place), parts: readParts(value.reply, place) };
  }
  return { parts: readParts(value, place) };
}

function matcher(pattern: string, place: Place): (newest: string) => boolean {
  const regex = /^\/(.+)\/([imsu]*)$/s.exec(pattern);
  if (!regex) return (newest) => newest.includes(pattern);
  try {
    const compiled = new RegExp(regex[1], regex[2]);
    return (newest) => compiled.test(newest);
  } catch (error) {
    return place.fail(`"when" is not a regular expression: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function readParts(value: unknown, place: Place): ScriptPart[] {
  if (isRecord(value)) return [readPart(value, place)];
  if (!Array.isArray(value)) place.fail(`a reply must be a list of parts, not ${JSON.stringify(value) ?? 'absent'}`);
  return value.map((part: unknown, index) => {
    const here = place.at(`part ${index + 1}`);
    return isRecord(part) ? readPart(part, here) : here.fail(`a part must be an object, not ${JSON.stringify(part)}`);
  });
}

function readPart(raw: Raw, place: Place): ScriptPart {
  const keys = Object.keys(raw);
  const kinds = keys.filter((key) => key in PARTS);
  const all = Object.keys(PARTS).join(', ');
  if (kinds.length !== 1) place.fail(kinds.length === 0 ? unknownKey(keys[0], all) : `"${kinds.join('" and "')}" cannot be one part`);
  const [kind] = kinds;
  for (const key of keys) {
    if (key !== kind && !PARTS[kind].includes(key))
      place.fail(`unknown key "${key}" beside "${kind}"; known: ${PARTS[kind].join(', ') || 'none'}`);
  }
  switch (kind) {
    case 'say':
      return { type: 'say', text: place.text(raw, 'say'), phase: place.optionalText(raw, 'phase') };
    case 'think':
      return { type: 'think', text: place.text(raw, 'think') };
    case 'call':
      return readCall(raw, place);
    case 'custom':
      return { type: 'custom', name: place.text(raw, 'custom'), input: place.text(raw, 'input'), id: place.optionalText(raw, 'id') };
    case 'search': {
      const limit = raw.limit === undefined ? {} : { limit: place.number(raw, 'limit') };
      return { type: 'search', arguments: { query: place.text(raw, 'search'), ...limit }, id: place.optionalText(raw, 'id') };
    }
    case 'delayMs':
      return { type: 'delay', ms: place.number(raw, 'delayMs') };
    case 'usage':
      return readUsage(place.record(raw, 'usage'), place);
    case 'fail':
      return readFailure(place.record(raw, 'fail'), place);
    case 'item': {
      const reading = readResponseItem(raw.item);
      return reading.ok ? { type: 'item', item: reading.item } : place.fail(`"item" is not a response item: ${reading.problem}`);
    }
    default:
      if (raw[kind] !== true) place.fail(`"${kind}" must be true`);
      return { type: kind === 'cut' ? 'cut' : 'hang' };
  }
}

const unknownKey = (key: string | undefined, all: string): string =>
  key === undefined ? `a part is empty; it must have one of: ${all}` : `unknown key "${key}"; a part has one of: ${all}`;

function readCall(raw: Raw, place: Place): ScriptPart {
  const { args = {} } = raw;
  if (typeof args !== 'string' && !isRecord(args))
    place.fail(`"args" must be an object, or a string to send as it is, not ${JSON.stringify(args)}`);
  return {
    type: 'call',
    name: place.text(raw, 'call'),
    namespace: place.optionalText(raw, 'namespace'),
    arguments: typeof args === 'string' ? args : JSON.stringify(args),
    id: place.optionalText(raw, 'id'),
  };
}

const USAGE_KEYS = ['inputTokens', 'cachedInputTokens', 'cacheWriteInputTokens', 'outputTokens', 'reasoningOutputTokens', 'totalTokens'];

function readUsage(raw: Raw, place: Place): ScriptPart {
  const usage: Record<string, number> = {};
  for (const key of Object.keys(raw)) {
    if (!USAGE_KEYS.includes(key)) place.fail(`unknown key "${key}" in "usage"; known: ${USAGE_KEYS.join(', ')}`);
    usage[key] = place.number(raw, key);
  }
  return { type: 'usage', usage };
}

function readFailure(raw: Raw, place: Place): ScriptPart {
  const known = ['kind', 'message', 'retryAfterMs', 'httpStatus'];
  for (const key of Object.keys(raw)) if (!known.includes(key)) place.fail(`unknown key "${key}" in "fail"; known: ${known.join(', ')}`);
  const kind = place.text(raw, 'kind');
  if (!Object.hasOwn(FAILURES, kind)) place.fail(`"kind" is "${kind}"; known: ${Object.keys(FAILURES).join(', ')}`);
  const named = kind as keyof typeof FAILURES;
  return {
    type: 'fail',
    kind: named,
    message: place.text(raw, 'message'),
    retryAfterMs: raw.retryAfterMs === undefined ? undefined : place.number(raw, 'retryAfterMs'),
    httpStatus: raw.httpStatus === undefined ? FAILURES[named] : place.number(raw, 'httpStatus'),
  };
}
