// Gate 5: who may run beside whom. Calls stand in line in the order in which the model made them: a shared call waits for the exclusive
// ones before it, an exclusive one for all before it that it conflicts with. Nobody is overtaken by a later conflicting call, so nobody starves.
import type { ResourceClaim } from '../runtime.ts';

export type Claim = { type: 'shared' } | { type: 'exclusive'; resources?: readonly ResourceClaim[] };

interface Place {
  claim: Claim;
  /** Set while the place waits; taken when it may run. */
  enter: (() => void) | null;
}

function conflict(a: Claim, b: Claim): boolean {
  if (a.type === 'shared' && b.type === 'shared') return false;
  if (a.type === 'exclusive' && b.type === 'exclusive' && a.resources && b.resources) {
    return a.resources.some((resource) => b.resources?.includes(resource));
  }
  return true;
}

/** A place in line. `enter` resolves when nothing before it conflicts; `leave` gives the place up, entered or not. */
export interface Ticket {
  enter(signal: AbortSignal): Promise<boolean>;
  /** Narrows the claim once arguments are known; only before `enter`. */
  claim(claim: Claim): void;
  leave(): void;
}

export class ParallelGate {
  /** In call order; a place leaves when its call has ended. */
  readonly #line: Place[] = [];

  take(claim: Claim): Ticket {
    const place: Place = { claim, enter: null };
    this.#line.push(place);
    return {
      claim: (narrower) => {
        place.claim = narrower;
        this.#advance();
      },
      enter: (signal) =>
        new Promise((resolve) => {
          if (signal.aborted) {
            resolve(false);
            return;
          }
          const onAbort = () => {
            place.enter = null;
            resolve(false);
          };
          signal.addEventListener('abort', onAbort, { once: true });
          place.enter = () => {
            signal.removeEventListener('abort', onAbort);
            resolve(true);
          };
          this.#advance();
        }),
      leave: () => {
        const at = this.#line.indexOf(place);
        if (at < 0) return;
        this.#line.splice(at, 1);
        this.#advance();
      },
    };
  }

  #advance(): void {
    for (let i = 0; i < this.#line.length; i++) {
      const place = this.#line[i];
      if (!place.enter) continue;
      let free = true;
      for (let j = 0; j < i && free; j++) free = !conflict(this.#line[j].claim, place.claim);
      if (!free) continue;
      const enter = place.enter;
      place.enter = null;
      enter();
    }
  }
}
