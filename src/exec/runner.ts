// The one place processes are started from: it knows everything that runs, and what commands left behind, until it ends them all.
import { newRandomId } from '../common/ids.ts';
import { InheritableDescriptors } from './child.ts';
import { FifoPool } from './fifo.ts';
import type { ProcessGroup } from './group.ts';
import { endMarked, killMarked } from './group.ts';
import { LocalProcess } from './local-process.ts';
import type { ProcessRequest, ProcessRunner, RunningProcess } from './process.ts';

const PRUNE_AT = 32;

export class LocalProcessRunner implements ProcessRunner {
  /** Begins the mark of every process of this runner, so that strays are told from everyone else's. Made with the first. */
  #id = '';
  readonly #fifos = new FifoPool();
  readonly #descriptors = new InheritableDescriptors();
  /** Started and not exited. */
  readonly #live = new Set<LocalProcess>();
  /** Groups that outlived their leader. May hold ended ones: they are thrown out when it has grown to `#pruneAt`. */
  readonly #leftBehind = new Set<ProcessGroup>();
  #pruneAt = PRUNE_AT;
  #started = 0;

  start(request: ProcessRequest): RunningProcess {
    const run = new LocalProcess(request, {
      fifos: this.#fifos,
      descriptors: this.#descriptors,
      mark: this.#nextMark(),
      leftBehind: (group) => this.#keep(group),
    });
    this.#live.add(run);
    void run.exited.then(() => this.#live.delete(run));
    return run;
  }

  async endAll(graceMs: number): Promise<void> {
    const groups = [...this.#leftBehind];
    await Promise.all([...[...this.#live].map((run) => run.terminate(graceMs)), ...groups.map((group) => group.end(graceMs))]);
    for (const group of groups) this.#leftBehind.delete(group);
    // What left its group and its parents is known by its mark only.
    if (this.#started > 0) await endMarked(`${this.#id}.`, graceMs);
    await this.#fifos.close();
  }

  killAll(): void {
    for (const run of this.#live) run.kill();
    for (const group of this.#leftBehind) group.kill();
    if (this.#started > 0) killMarked(`${this.#id}.`);
  }

  #nextMark(): string {
    this.#id ||= newRandomId().replaceAll('-', '');
    return `${this.#id}.${++this.#started}`;
  }

  #keep(group: ProcessGroup): void {
    this.#leftBehind.add(group);
    if (this.#leftBehind.size < this.#pruneAt) return;
    for (const other of this.#leftBehind) if (other.members().length === 0) this.#leftBehind.delete(other);
    this.#pruneAt = Math.max(PRUNE_AT, 2 * this.#leftBehind.size);
  }
}
