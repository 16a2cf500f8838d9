// The scripted model: plays a file of replies without network, key or waiting. It is the default until a real model is configured,
// and the model of demonstrations and recorded tests.
import { readFile } from 'node:fs/promises';
import { sleep } from '../common/clock.ts';
import { messageOf, systemCode } from '../common/errors.ts';
import { headOf } from '../common/text.ts';
import { isToolOutput, type ResponseItem } from '../protocol/response-item.ts';
import { type ModelClient, ModelError, type ModelEvent, type ModelRequest, type TokenUsage } from './client.ts';
import { abortedError, cutError, isRetryableKind } from './model-errors.ts';
import type { ProviderConfig } from './provider.ts';
import { markReasoning, originOf } from './reasoning-origin.ts';
import { parseScript, type ScriptPart, type ScriptReply } from './script.ts';

const CHUNK = 8;
const DEFAULT_USAGE: TokenUsage = {
  inputTokens: 100,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 20,
  reasoningOutputTokens: 0,
  totalTokens: 120,
};
const NO_MODEL =
  "No model is configured, so the built-in scripted model answers. To use a real one, edit config.toml in the daemon's home " +
  '(HARNESSD_HOME, ~/.harnessd by default): set model = "<name>" and model_provider = "<id>", and describe the provider under ' +
  '[model_providers.<id>] with base_url, wire_api ("responses", "chat" or "anthropic") and env_key, the environment variable that ' +
  'holds the key. To play a script instead, give a provider wire_api = "scripted" and script = "<file>".';

/** Where one thread is in the script. Written by stream() only. */
interface Progress {
  next: number;
  /** Items made so far, for ids. */
  made: number;
}

export class ScriptedClient implements ModelClient {
  readonly #config: ProviderConfig;
  /** Set by the first successful load; a broken file is read again, so that it can be corrected meanwhile. */
  #replies: ScriptReply[] | undefined;
  /** By prompt cache key, which is one a thread: each thread plays the script from its start. The one state kept between calls. */
  readonly #progress = new Map<string, Progress>();

  constructor(config: ProviderConfig) {
    this.#config = config;
  }

  close(): void {
    this.#progress.clear();
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    if (signal.aborted) throw abortedError();
    const key = request.promptCacheKey ?? '';
    const progress = this.#progress.get(key) ?? { next: 0, made: 0 };
    this.#progress.set(key, progress);
    const parts = await this.#partsFor(request, progress);
    const idBase = `s${request.input.length}_`;
    const events = new PartEvents(() => `${idBase}${++progress.made}`, originOf(this.#config));
    let usage = DEFAULT_USAGE;
    let batch: ModelEvent[] = [{ type: 'created', responseId: `resp_${idBase}${progress.made}` }];
    const take = () => {
      const full = batch;
      batch = [];
      return full;
    };
    for (const part of parts) {
      if (signal.aborted) throw abortedError();
      if (part.type === 'usage') {
        usage = withTotal({ ...DEFAULT_USAGE, ...part.usage }, part.usage);
      } else if (part.type === 'delay' || part.type === 'hang') {
        if (batch.length > 0) yield take();
        await this.#pause(part, signal);
      } else if (part.type === 'fail' || part.type === 'cut') {
        if (part.type === 'cut' || events.any) yield take();
        throw failureOf(part, events.any);
      } else events.add(part, batch);
    }
    batch.push({ type: 'completed', responseId: `resp_${idBase}${progress.made}`, usage });
    yield take();
  }

  async #pause(part: Extract<ScriptPart, { type: 'delay' | 'hang' }>, signal: AbortSignal): Promise<void> {
    const limit = this.#config.streamIdleTimeoutMs;
    const wait = part.type === 'delay' ? part.ms : Number.POSITIVE_INFINITY;
    if (!(await sleep(Math.min(wait, limit), signal))) throw abortedError();
    if (wait > limit) {
      const message = `stream disconnected before completion: nothing arrived for ${limit} ms`;
      throw new ModelError('idleTimeout', message, { retryable: true, midStream: true });
    }
  }

  async #partsFor(request: ModelRequest, progress: Progress): Promise<ScriptPart[]> {
    const file = this.#config.script;
    if (file === undefined) return [{ type: 'say', text: NO_MODEL }];
    const replies = (this.#replies ??= await load(file));
    const newest = newestText(request.input);
    const reaction = replies.find((reply) => reply.when?.(newest));
    if (reaction) return reaction.parts;
    const ordered = replies.filter((reply) => !reply.when);
    const reply = ordered[progress.next];
    if (reply) {
      progress.next++;
      return reply.parts;
    }
    return [{ type: 'say', text: `The script ${file} is at its end: all ${ordered.length} replies have been played.` }];
  }
}

async function load(file: string): Promise<ScriptReply[]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new ModelError('other', `script ${file} cannot be read: ${systemCode(error) ?? messageOf(error)}`);
  }
  return parseScript(text, file);
}

function withTotal(usage: TokenUsage, given: Record<string, number>): TokenUsage {
  return given.totalTokens === undefined ? { ...usage, totalTokens: usage.inputTokens + usage.outputTokens } : usage;
}

function failureOf(part: Extract<ScriptPart, { type: 'fail' | 'cut' }>, midStream: boolean): ModelError {
  if (part.type === 'cut') return cutError('the script cuts the stream here');
  const { kind, message, retryAfterMs, httpStatus } = part;
  return new ModelError(kind, message, {
    retryable: isRetryableKind(kind) || (kind === 'other' && midStream),
    ...(midStream ? {} : { httpStatus }),
    retryAfterMs,
    midStream,
  });
}

const textOf = (parts: readonly { type: string; text?: string }[]): string => parts.map((part) => part.text ?? '').join('\n');

/** What the model has not answered yet: the last user message and the tool outputs since it last spoke. */
export function newestText(input: readonly ResponseItem[]): string {
  const found: string[] = [];
  let user: string | undefined;
  for (const item of [...input].reverse()) {
    if (isToolOutput(item)) {
      const { output } = 'output' in item ? item : { output: JSON.stringify(item.tools) };
      found.push(typeof output === 'string' ? output : textOf(output as { type: string; text?: string }[]));
    } else if (item.type === 'message' && item.role === 'user') user ??= textOf(item.content as { type: string; text?: string }[]);
    else if (!(item.type === 'message' && item.role !== 'assistant')) break;
  }
  return [...(user === undefined ? [] : [user]), ...found.reverse()].join('\n');
}

type ItemPart = Extract<ScriptPart, { type: 'say' | 'think' | 'call' | 'custom' | 'search' | 'item' }>;

/** Turns parts into the events that a provider would stream for them. */
class PartEvents {
  readonly #newId: () => string;
  readonly #origin: string;
  #index = 0;

  constructor(newId: () => string, origin: string) {
    this.#newId = newId;
    this.#origin = origin;
  }

  /** Something of the answer was said: a failure from here on is one inside the stream. */
  get any(): boolean {
    return this.#index > 0;
  }

  add(part: ItemPart, out: ModelEvent[]): void {
    const id = this.#newId();
    const index = this.#index++;
    const whole = itemOf(part, id, this.#origin);
    out.push({ type: 'itemAdded', index, item: begunItem(whole, part) });
    if (part.type === 'say') chunks(part.text, (delta) => out.push({ type: 'textDelta', itemId: `msg_${id}`, delta }));
    if (part.type === 'think') {
      const itemId = `rs_${id}`;
      out.push({ type: 'reasoningPartAdded', itemId, summaryIndex: 0 });
      chunks(part.text, (delta) => out.push({ type: 'reasoningSummaryDelta', itemId, summaryIndex: 0, delta }));
    }
    if (part.type === 'call') chunks(part.arguments, (delta) => out.push({ type: 'argumentsDelta', itemId: `fc_${id}`, delta }));
    if (part.type === 'custom') {
      const callId = part.id ?? `call_${id}`;
      chunks(part.input, (delta) => out.push({ type: 'argumentsDelta', itemId: `ctc_${id}`, callId, delta }));
    }
    out.push({ type: 'itemDone', index, item: whole });
  }
}

function chunks(text: string, emit: (delta: string) => void): void {
  for (let rest = text; rest !== ''; ) {
    // A chunk of one code unit could not hold a pair, so a cut never comes back empty.
    const delta = headOf(rest, CHUNK);
    emit(delta);
    rest = rest.slice(delta.length);
  }
}

function itemOf(part: ItemPart, id: string, origin: string): ResponseItem {
  switch (part.type) {
    case 'say': {
      const phase = part.phase === undefined ? {} : { phase: part.phase };
      return { type: 'message', role: 'assistant', id: `msg_${id}`, content: [{ type: 'output_text', text: part.text }], ...phase };
    }
    case 'think':
      return markReasoning({ type: 'reasoning', id: `rs_${id}`, summary: [{ type: 'summary_text', text: part.text }] }, origin);
    case 'call': {
      const namespace = part.namespace === undefined ? {} : { namespace: part.namespace };
      return {
        type: 'function_call',
        id: `fc_${id}`,
        call_id: part.id ?? `call_${id}`,
        name: part.name,
        ...namespace,
        arguments: part.arguments,
      };
    }
    case 'custom':
      return { type: 'custom_tool_call', id: `ctc_${id}`, call_id: part.id ?? `call_${id}`, name: part.name, input: part.input };
    case 'search':
      return {
        type: 'tool_search_call',
        id: `tsc_${id}`,
        call_id: part.id ?? `call_${id}`,
        execution: 'client',
        arguments: part.arguments,
      };
    case 'item':
      return part.item;
  }
}

function begunItem(item: ResponseItem, part: ItemPart): ResponseItem {
  if (part.type === 'item') return item;
  if (item.type === 'message') return { ...item, content: [] };
  if (item.type === 'reasoning') return { ...item, summary: [] };
  if (item.type === 'function_call') return { ...item, arguments: '' };
  return item.type === 'custom_tool_call' ? { ...item, input: '' } : item;
}
