// One turn: who it is, how it ends and what still has to be read by the model. Its status and its abort signal are written here only.
import { newId } from '../common/ids.ts';
import { newTurnRecord, type TurnRecord } from './turn-record.ts';
import type { UserMessage } from './user-input.ts';

export type TurnEnd = 'completed' | 'interrupted' | 'failed';

/** What a turn does. Only a turn of the user takes more input while it runs. */
export type TurnKind = 'user' | 'shell' | 'review' | 'compact';

export class Turn {
  readonly id: string;
  readonly record: TurnRecord;
  readonly kind: TurnKind;
  readonly outputSchema: unknown;
  readonly #abort = new AbortController();
  /** Input that no request has carried yet: the first message, then what was steered in. Taken at step boundaries. */
  #inputs: UserMessage[] = [];
  /** Set when the turn takes no more input; from then on it only ends. */
  #closed = false;

  constructor(kind: TurnKind, outputSchema: unknown = undefined, id = newId()) {
    this.kind = kind;
    this.id = id;
    this.record = newTurnRecord(id);
    this.outputSchema = outputSchema;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** What the next step will take. */
  get waiting(): readonly UserMessage[] {
    return this.#inputs;
  }

  get hasInput(): boolean {
    return this.#inputs.length > 0;
  }

  /** Adds input; false when the turn takes none any more. */
  add(message: UserMessage): boolean {
    if (this.#closed || this.signal.aborted) return false;
    this.#inputs.push(message);
    return true;
  }

  takeInputs(): UserMessage[] {
    const inputs = this.#inputs;
    this.#inputs = [];
    return inputs;
  }

  interrupt(): void {
    this.#abort.abort();
  }

  /** Closes the turn to input, unless some is waiting: decided in one synchronous step, so that no input falls between. */
  closeIfIdle(): boolean {
    if (this.#inputs.length > 0 && !this.signal.aborted) return false;
    this.#closed = true;
    return true;
  }

  close(): void {
    this.#closed = true;
  }
}
