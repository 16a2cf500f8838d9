// What a client does to a command of its own that runs: the same for command/exec and process/*, which name things differently.
import { invalidRequest } from '../common/errors.ts';
import { checkSize, inputOf, type TerminalSize } from './client-command.ts';
import type { ClientSession } from './client-session.ts';
import type { ExecRegistry } from './exec-registry.ts';

/** How the clients of one surface call its commands. */
export interface ControlWords {
  readonly writeMethod: string;
  readonly noun: string;
}

/** When commands end that nobody asked to end. */
export interface ExecEnds {
  /** Ends what one client has started; for when it leaves. */
  endClient(client: ClientSession): Promise<void>;
  /** Ends everything, and lets nothing more begin. */
  endAll(): Promise<void>;
}

export class ExecControls {
  readonly #registry: ExecRegistry;
  readonly #words: ControlWords;

  constructor(registry: ExecRegistry, words: ControlWords) {
    this.#registry = registry;
    this.#words = words;
  }

  async write(client: ClientSession, id: string, params: Parameters<typeof inputOf>[1]): Promise<Record<string, never>> {
    const slot = this.#registry.get(client, id);
    const input = inputOf(this.#words.writeMethod, params);
    if (!slot.options.stdin) throw invalidRequest(`stdin streaming is not enabled for this ${this.#words.noun}`);
    await slot.write(input);
    return {};
  }

  async resize(client: ClientSession, id: string, size: TerminalSize): Promise<Record<string, never>> {
    const slot = this.#registry.get(client, id);
    checkSize(size, 'size');
    if (!slot.options.tty)
      throw invalidRequest(`${this.#words.noun} ${JSON.stringify(id)} has no terminal: only one with tty: true has a size`);
    await slot.resize(size.rows, size.cols);
    return {};
  }

  kill(client: ClientSession, id: string): Record<string, never> {
    void this.#registry.get(client, id).kill();
    return {};
  }
}
