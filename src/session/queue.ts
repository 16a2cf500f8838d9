// Inputs that wait for their turn: each becomes a turn of its own when the thread is idle. They are on disk, so none is lost with a process.
import { invalidParams, invalidRequest } from '../common/errors.ts';
import { newId } from '../common/ids.ts';
import type { QueuedSubmission } from '../protocol/thread-queue-goal.ts';
import type { ThreadLog } from './thread-log.ts';
import type { ThreadState } from './thread-state.ts';
import type { UserMessage } from './user-input.ts';

const MAX_QUEUED = 100;

export type Submission = Omit<QueuedSubmission, 'id'>;

export class InputQueue {
  readonly #state: ThreadState;
  readonly #log: ThreadLog;
  readonly #changed: () => void;
  /** A turn was interrupted or failed: what waits is not started until the user starts something. */
  #held = false;

  constructor(state: ThreadState, log: ThreadLog, changed: () => void) {
    this.#state = state;
    this.#log = log;
    this.#changed = changed;
  }

  /** The next input may start by itself. */
  get ready(): boolean {
    return !this.#held && this.#state.queue.length > 0;
  }

  hold(): void {
    this.#held = true;
  }

  letGo(): void {
    this.#held = false;
  }

  add(submission: Submission): QueuedSubmission {
    if (this.#state.queue.length >= MAX_QUEUED) throw invalidRequest(`the queue is full: at most ${MAX_QUEUED} inputs wait`);
    const entry = { id: newId(), ...submission };
    this.#replace([...this.#state.queue, entry]);
    return entry;
  }

  update(id: string, change: Partial<Submission>): QueuedSubmission {
    const entry = { ...this.#entry(id), ...change };
    this.#replace(this.#state.queue.map((one) => (one.id === id ? entry : one)));
    return entry;
  }

  delete(id: string): boolean {
    const kept = this.#state.queue.filter((entry) => entry.id !== id);
    if (kept.length === this.#state.queue.length) return false;
    this.#replace(kept);
    return true;
  }

  /** The ids must be those that wait, each once. */
  reorder(ids: readonly string[]): void {
    const byId = new Map(this.#state.queue.map((entry) => [entry.id, entry]));
    const ordered = ids.map((id) => byId.get(id)).filter((entry) => entry !== undefined);
    if (ordered.length !== ids.length || new Set(ids).size !== byId.size || ids.length !== byId.size)
      throw invalidParams(`params.queuedSubmissionIds: expected each of the ${byId.size} ids that wait, once`);
    this.#replace(ordered);
  }

  /** Takes an input out, the first or a certain one, as the message of a turn. */
  take(id?: string | null): UserMessage {
    const entry = id ? this.#entry(id) : this.#state.queue[0];
    if (!entry) throw invalidRequest('no input waits in the queue');
    this.#replace(this.#state.queue.filter((one) => one !== entry));
    return { id: newId(), clientId: entry.clientUserMessageId, input: entry.input, context: [] };
  }

  #entry(id: string): QueuedSubmission {
    const entry = this.#state.queue.find((one) => one.id === id);
    if (!entry) throw invalidParams(`params.queuedSubmissionId: no input with the id ${id} waits`);
    return entry;
  }

  #replace(entries: QueuedSubmission[]): void {
    this.#state.queue = entries;
    this.#log.append({ type: 'queue', entries });
    this.#changed();
  }
}
