// Runs commands as a login shell would without paying for the profile each time, which costs from two milliseconds up to a fifth of a second. Whether that
// is the same is measured first, behind the commands that ask; until it is known, and wherever it is not the same, the profile runs.
import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { monotonicMs } from '../common/clock.ts';
import { newRandomId } from '../common/ids.ts';
import type { ProfileEffect } from './login-state.ts';
import { parseProbe, probeScript, profileEffect } from './login-state.ts';
import type { Shell } from './shell.ts';
import { shellArgv } from './shell.ts';

export interface LoginContext {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Names the sandbox the command runs in: what was learnt in one is not used in another. */
  readonly scope: string;
}

export interface Launch {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Runs a probe exactly as a command of the same context would run, sandbox included, with stdout and stderr merged. Gives the output,
 * whatever the exit code, or undefined when it could not be run or took longer than `timeoutMs`. Must not throw.
 */
export type Probe = (launch: Launch, context: LoginContext, timeoutMs: number) => Promise<Uint8Array | undefined>;

/** Below this a profile is not worth a replay; one that starts a single program is above it. */
const WORTH_MS = 1.5;
const PROBE_MS = 5000;
/** A profile may read files we do not know of; what was learnt is checked again after this time. */
const FRESH_MS = 60_000;
const MAX_ENTRIES = 32;
/** The longest value of one variable the system passes on is 128 KiB. */
const PIECE = 100_000;

interface Entry {
  /** Of the profile files when the probing began. */
  readonly stamp: string;
  readonly at: number;
  readonly effect: ProfileEffect;
}

export class LoginShells {
  readonly #probe: Probe;
  /** The least recently learnt first. */
  readonly #entries = new Map<string, Entry>();
  readonly #probing = new Map<string, Promise<void>>();

  constructor(probe: Probe) {
    this.#probe = probe;
  }

  /** argv and environment of a command in a login shell. Never waits for a probe. */
  async launch(shell: Shell, command: string, context: LoginContext): Promise<Launch> {
    const plain = { argv: shellArgv(shell, command, true), env: context.env };
    if (shell.kind !== 'bash') return plain;
    const key = keyOf(shell, context);
    const stamp = profileStamp(context.env.HOME ?? '');
    const entry = this.#entries.get(key);
    const usable = entry?.stamp === stamp;
    if ((!usable || monotonicMs() - entry.at > FRESH_MS) && !this.#probing.has(key)) this.#learn(key, stamp, shell, context);
    return usable ? applied(entry.effect, shell, command, context.env, plain) : plain;
  }

  /** Resolves when no probe runs. */
  async settled(): Promise<void> {
    await Promise.all(this.#probing.values());
  }

  #learn(key: string, stamp: string, shell: Shell, context: LoginContext): void {
    const done = this.#effectOf(shell, context).then((effect) => {
      this.#entries.delete(key);
      this.#entries.set(key, { stamp, at: monotonicMs(), effect });
      for (const [oldest] of this.#entries) {
        if (this.#entries.size <= MAX_ENTRIES) break;
        this.#entries.delete(oldest);
      }
      this.#probing.delete(key);
    });
    this.#probing.set(key, done);
  }

  async #effectOf(shell: Shell, context: LoginContext): Promise<ProfileEffect> {
    const separator = `probe_${newRandomId().replaceAll('-', '')}`;
    const run = async (login: boolean) => {
      const began = monotonicMs();
      const output = await this.#probe({ argv: shellArgv(shell, probeScript(separator), login), env: context.env }, context, PROBE_MS);
      return { ms: monotonicMs() - began, state: output && parseProbe(output, separator) };
    };
    const without = await run(false);
    if (without.state === undefined || typeof without.state === 'string') return { type: 'notReplayable' };
    const first = await run(true);
    if (first.state === undefined || (typeof first.state !== 'string' && first.ms - without.ms < WORTH_MS))
      return { type: 'notReplayable' };
    const second = await run(true);
    return second.state === undefined ? { type: 'notReplayable' } : profileEffect(without.state, first.state, second.state);
  }
}

function applied(effect: ProfileEffect, shell: Shell, command: string, base: Launch['env'], plain: Launch): Launch {
  switch (effect.type) {
    case 'notReplayable':
      return plain;
    case 'swallows':
      return { argv: shellArgv(shell, command, false), env: base };
    case 'replay': {
      const env = { ...base, ...effect.set };
      for (const name of effect.unset) delete env[name];
      const pieces = Array.from({ length: Math.ceil(effect.script.length / PIECE) }, (_, i) =>
        effect.script.slice(i * PIECE, (i + 1) * PIECE),
      );
      const names = pieces.map((_, i) => `HARNESSD_PROFILE_${i}`);
      for (const [i, name] of names.entries()) env[name] = pieces[i];
      // On the command's first line, so that bash counts lines as the model wrote them.
      const prefix = names.length === 0 ? '' : `eval "${names.map((name) => `$${name}`).join('')}"; unset ${names.join(' ')}; `;
      return { argv: shellArgv(shell, prefix + command, false), env };
    }
  }
}

function keyOf(shell: Shell, { cwd, env, scope }: LoginContext): string {
  // Our own variables differ from call to call and mean nothing to a profile.
  const inherited = Object.entries(env)
    .filter(([name]) => !name.startsWith('HARNESSD_'))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([shell.path, cwd, scope, inherited]))
    .digest('base64');
}

/** Looked at for every command: a dozen looks in turn cost a tenth of what a dozen waits for the disk's threads do. */
function profileStamp(home: string): string {
  const extra = namesIn('/etc/profile.d');
  const files = [
    '/etc/profile',
    '/etc/bash.bashrc',
    '/etc/bashrc',
    '/etc/environment',
    ...extra.map((name) => join('/etc/profile.d', name)),
  ];
  const own = ['.bash_profile', '.bash_login', '.profile', '.bashrc', '.bash_aliases'].map((name) => join(home, name));
  return `${extra.length}:${[...files, ...own].map(stampOf).join()}`;
}

function stampOf(file: string): string {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    return found ? `${found.mtimeMs}/${found.size}/${found.ino}` : '';
  } catch {
    return '';
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
