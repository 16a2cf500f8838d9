// A patch that is still being written by the model, shown as it grows. A patch that arrives at once is never previewed: its item begins
// with the verified changes.
import { FreeformInputReader } from '../../model/freeform-input.ts';
import { previewChanges } from '../../patch/changes.ts';
import { PatchParser } from '../../patch/parser.ts';
import type { ItemHandle, ToolEvents } from '../events.ts';
import type { ArgumentPreview, StreamingCall } from '../runtime.ts';
import { failedItem } from '../terminal-item.ts';

const FIRST_MS = 200;
const INTERVAL_MS = 130;
/** Large previews come less often, so that their cost a second stays the same. */
const BYTES_PER_MS = 1_000;

export class PatchPreview implements ArgumentPreview {
  readonly #itemId: string;
  readonly #cwd: string;
  readonly #events: ToolEvents;
  readonly #parser = new PatchParser();
  readonly #input: FreeformInputReader | null;
  /** Set by the first preview; the call that follows goes on with the same item. */
  #handle: ItemHandle | null = null;
  /** What was shown last, by size: previews only grow. */
  #shown = 0;
  /** Runs while text has come that was not shown. */
  #timer: NodeJS.Timeout | null = null;
  /** Nothing is shown after the end. */
  #ended = false;

  constructor(call: StreamingCall, cwd: string, events: ToolEvents) {
    this.#itemId = call.itemId;
    this.#cwd = cwd;
    this.#events = events;
    this.#input = call.replyAs === 'function' ? new FreeformInputReader() : null;
  }

  push(delta: string): void {
    if (this.#ended) return;
    this.#parser.push(this.#input ? this.#input.feed(delta) : delta);
    if (this.#timer) return;
    const wait = this.#handle ? INTERVAL_MS + this.#shown / BYTES_PER_MS : FIRST_MS;
    // After the deltas that lie ready: when the daemon was busy, the rest of the patch may be among them.
    this.#timer = setTimeout(() => setImmediate(() => this.#show()), wait);
  }

  end(how: 'whole' | 'cut'): void {
    this.#ended = true;
    if (this.#timer) clearTimeout(this.#timer);
    if (how === 'cut') this.#handle?.complete(failedItem(this.#handle.current));
  }

  #show(): void {
    this.#timer = null;
    if (this.#ended) return;
    const changes = previewChanges(this.#parser.snapshot(), this.#cwd);
    const size = changes.reduce((sum, change) => sum + change.path.length + change.diff.length, 0);
    if (size <= this.#shown) return;
    this.#shown = size;
    const item = { type: 'fileChange', id: this.#itemId, changes, status: 'inProgress' } as const;
    this.#handle ??= this.#events.startItem(item, { abandoned: (current) => failedItem(current) });
    this.#handle.revise(item);
    this.#events.patchUpdated(this.#itemId, changes);
  }
}
