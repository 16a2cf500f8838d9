// The rollout of one thread, from its side: the header is written before the first fact, so a thread without a turn leaves no file.

import { isToolOutput, type ResponseItem, type ToolCallOutputItem } from '../protocol/response-item.ts';
import type { HistoryOrigin, RolloutLine } from '../protocol/rollout.ts';
import type { BlobFolder } from './rollout/blobs.ts';
import { nowhere, type RolloutSink, RolloutWriter } from './rollout/writer.ts';
import { type ThreadState, turnCount } from './thread-state.ts';
import type { UserMessage } from './user-input.ts';

export class ThreadLog implements RolloutSink {
  readonly #state: ThreadState;
  readonly #sink: RolloutSink;
  /** The file has its header. */
  #begun: boolean;
  /** Outputs that are on disk and have no place in the history yet. */
  readonly #results = new Set<ToolCallOutputItem>();

  constructor(state: ThreadState, options: { blobs: BlobFolder; begun: boolean; endsWhole: boolean; onFault: (message: string) => void }) {
    this.#state = state;
    this.#begun = options.begun;
    const { blobs, begun, endsWhole, onFault } = options;
    this.#sink = state.path ? new RolloutWriter(state.path, { blobs, tornEnd: begun && !endsWhole, exists: begun, onFault }) : nowhere;
  }

  append(line: RolloutLine): void {
    if (!this.#begun) {
      this.#begun = true;
      const { meta, settings, dynamicTools } = this.#state;
      this.#sink.append(meta);
      this.#sink.append({ type: 'settings', settings: { ...settings } });
      if (dynamicTools.length) this.#sink.append({ type: 'dynamicTools', tools: [...dynamicTools] });
    }
    this.#sink.append(line);
  }

  /** Only when the file exists: a thread that nobody used leaves none because of a setting. */
  appendIfBegun(line: RolloutLine): void {
    if (this.#begun) this.#sink.append(line);
  }

  get begun(): boolean {
    return this.#begun;
  }

  /** What the user said, before any turn takes it. */
  input(turnId: string, { id, clientId, input }: UserMessage): void {
    if (input.length > 0) this.append({ type: 'input', turnId, id, clientId, input });
  }

  /** A call has ended: its output is kept at once, whatever becomes of the calls beside it. It enters the history in call order. */
  result(item: ToolCallOutputItem, turnId: string): void {
    if (!item.call_id) return;
    this.#results.add(item);
    this.append({ type: 'result', turnId, item });
  }

  /** Puts a kept output into the history. */
  place(item: ToolCallOutputItem, turnId: string | null): void {
    this.#results.delete(item);
    this.#state.history.append({ origin: 'tool', turnId, item });
    this.append({ type: 'placed', turnId, callId: item.call_id ?? '' });
  }

  history(origin: HistoryOrigin, item: ResponseItem, turnId: string | null, section?: string): void {
    if (isToolOutput(item) && this.#results.has(item)) {
      this.place(item, turnId);
      return;
    }
    this.#state.history.append({ origin, turnId, item, ...(section ? { section } : {}) });
    this.append({ type: 'history', turnId, origin, item, ...(section ? { section } : {}) });
  }

  summary(): void {
    const { preview, name, updatedAt, settings, gitInfo, external } = this.#state;
    this.append({
      type: 'summary',
      preview,
      name,
      updatedAt,
      cwd: settings.cwd,
      model: settings.model,
      modelProvider: settings.modelProvider,
      turns: turnCount(this.#state),
      ...(gitInfo ? { gitInfo } : {}),
      ...(external ? { external } : {}),
    });
  }

  flush(): Promise<void> {
    return this.#sink.flush();
  }

  close(): Promise<void> {
    return this.#sink.close();
  }
}
