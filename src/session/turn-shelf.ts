// What a client saw of earlier turns is in the record: a loaded thread lets go of it and reads it again when somebody asks, so that a long
// life costs no memory for what is over.
import { setImmediate as others } from 'node:timers/promises';
import { messageOf } from '../common/errors.ts';
import { logger } from '../common/log.ts';
import type { RolloutOutline } from './rollout/outline.ts';
import type { RolloutSink } from './rollout/writer.ts';
import { deferItems, isDeferred, type TurnRecord } from './turn-record.ts';

/** The last turns stay at hand. */
const KEPT_TURNS = 16;
/** Turns that are let go of together. */
const BATCH = 32;

export class TurnShelf {
  readonly #outline: () => RolloutOutline;
  readonly #log: Pick<RolloutSink, 'flush'>;
  #busy = false;

  /** `outline` gives the one of the thread's record. */
  constructor(outline: () => RolloutOutline, log: Pick<RolloutSink, 'flush'>) {
    this.#outline = outline;
    this.#log = log;
  }

  /** Lets go of the items of turns that ended long ago, when there are enough of them. Never rejects; a turn that is not in the record stays. */
  async tidy(turns: readonly TurnRecord[]): Promise<void> {
    const over = turns.slice(0, -KEPT_TURNS).filter((turn) => !isDeferred(turn) && turn.open.size === 0);
    if (this.#busy || over.length < BATCH) return;
    this.#busy = true;
    try {
      await this.#log.flush();
      const outline = this.#outline();
      await outline.extend();
      for (const turn of over) {
        shelve(turn, outline);
        await others();
      }
    } catch (error) {
      logger().warn({ error: messageOf(error) }, 'earlier turns stay in memory');
    } finally {
      this.#busy = false;
    }
  }
}

function shelve(turn: TurnRecord, outline: RolloutOutline): void {
  const ids = outline.itemsOf(turn.id).map(({ id }) => id);
  // A disk that refuses may not have all of it yet.
  if (ids.length !== turn.items.length || turn.items.some(({ id }, i) => id !== ids[i])) return;
  deferItems(turn, () => outline.itemsOf(turn.id));
}
