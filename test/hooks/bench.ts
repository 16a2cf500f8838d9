// A daemon with hooks that are shell texts: what they were given, and what the client saw of their runs.
import fs from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type Reply, TestFrontend } from '../spine/client.ts';

export const say = (answer: unknown): string => `cat <<'JSON'\n${JSON.stringify(answer)}\nJSON`;
export const specific = (hookEventName: string, fields: object): string => say({ hookSpecificOutput: { hookEventName, ...fields } });
export const refuse = (reason: string): string => `echo '${reason}' >&2\nexit 2`;

export interface HookText {
  event: string;
  text: string;
  /** TOML lines of its group and of itself. */
  group?: string;
  handler?: string;
  /** False: it leaves its input unread, and `given` does not know of it. */
  reads?: boolean;
}

export interface BenchOptions {
  hooks?: HookText[];
  script?: Reply[];
  config?: string;
}

export class HookBench extends TestFrontend {
  /** Each hook is a script of its own here, so that a test may change what it does. */
  get scripts(): string {
    return path.join(path.dirname(this.home), 'hooks');
  }

  /** What hooks of an event were given, in the order in which they ran. */
  given(event: string): Record<string, unknown>[] {
    const log = path.join(this.scripts, 'log');
    const lines = fs.existsSync(log) ? fs.readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
    return lines.map((line) => JSON.parse(line)).filter((input) => input.hook_event_name === event);
  }

  /** Ended runs of an event: status and entries. */
  runs(eventName: string): [string, [string, string][]][] {
    return this.all('hook/completed')
      .map(({ run }) => run)
      .filter((run) => run.eventName === eventName)
      .map((run) => [run.status, run.entries.map((entry: any) => [entry.kind, entry.text])]);
  }

  warnings(): string[] {
    return this.all('warning').map(({ message }) => message);
  }

  /** Every started run has ended, with the same id. */
  get balanced(): boolean {
    const ids = (method: 'hook/started' | 'hook/completed') =>
      this.all(method)
        .map(({ run }) => run.id)
        .sort();
    return JSON.stringify(ids('hook/started')) === JSON.stringify(ids('hook/completed'));
  }

  /** A path in the folder of the thread. */
  file(name: string): string {
    return path.join(this.cwd, name);
  }
}

/** Writes the scripts of the hooks and their tables. */
export function hookBench({ hooks = [], script, config = '' }: BenchOptions): HookBench {
  const folder = fs.mkdtempSync(path.join(fs.realpathSync(process.env.HOME ?? '/tmp'), '.harnessd-hooks-'));
  fs.mkdirSync(path.join(folder, 'hooks'));
  const tables = hooks.map(({ event, text, group = '', handler = '', reads = true }, i) => {
    const file = path.join(folder, 'hooks', `${i}.sh`);
    const read = reads ? `input=$(cat)\nprintf '%s\\n' "$input" >> ${path.join(folder, 'hooks', 'log')}\n` : '';
    fs.writeFileSync(file, `${read}${text}\n`);
    return `[[hooks.${event}]]\n${group}\n[[hooks.${event}.hooks]]\ntype = "command"\ncommand = "sh ${file}"\n${handler}\n`;
  });
  const bench = new HookBench({
    script,
    config: `${config}\n${tables.join('\n')}`,
    home: path.join(folder, 'home'),
    cwd: path.join(folder, 'work'),
  });
  onTestFinished(() => bench.dispose());
  return bench;
}
