// The one way into the sandbox: an argv goes in, the argv to run comes out, with what must be done after the run. Whoever starts a
// process calls wrap() before and release() after it; nothing else knows which sandbox there is.
import fs from 'node:fs';
import path from 'node:path';
import { bubblewrapArgv } from './bubblewrap.ts';
import type { SandboxKind } from './detect.ts';
import { detectSandbox } from './detect.ts';
import { GuardedPaths, RESERVED_NAMES } from './guarded-paths.ts';
import { MountPoints } from './mount-points.ts';
import type { SandboxPermissions } from './permissions.ts';
import { isWithin, realPath, withoutMoved } from './permissions.ts';
import { seatbeltArgv } from './seatbelt.ts';

export interface WrapInput {
  readonly argv: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  readonly permissions: SandboxPermissions;
  readonly tty: boolean;
  /** False for what is no command of a model: it makes no guarded folder, so none has to be kept out for its time. True by default. */
  readonly reserves?: boolean;
}

export interface WrappedCommand {
  readonly argv: string[];
  readonly sandboxed: boolean;
  /** To be called once when the process has ended (or did not start); more calls do nothing. */
  release(): void;
}

export class SandboxUnavailable extends Error {
  constructor(reason: string) {
    super(`no sandbox: ${reason}`);
    this.name = 'SandboxUnavailable';
  }
}

const BASH_PLACES = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'];

export interface SandboxLauncherOptions {
  /** Kept read-only wherever a writable root covers them: the daemon's own home, with its rules and config. */
  readonly alwaysGuarded?: readonly string[];
  readonly detect?: () => Promise<SandboxKind>;
}

export class SandboxLauncher {
  readonly #alwaysGuarded: readonly string[];
  readonly #detect: () => Promise<SandboxKind>;
  readonly #guarded = new GuardedPaths();
  readonly #mountPoints = new MountPoints();
  /** Set by the first question; the answer holds for the life of the daemon. */
  #kind: Promise<SandboxKind> | undefined;

  constructor(options: SandboxLauncherOptions = {}) {
    this.#alwaysGuarded = options.alwaysGuarded ?? [];
    this.#detect = options.detect ?? (() => detectSandbox());
  }

  kind(): Promise<SandboxKind> {
    this.#kind ??= this.#detect();
    return this.#kind;
  }

  async available(): Promise<boolean> {
    return (await this.kind()).type !== 'none';
  }

  /** Full access comes back as it is. Throws SandboxUnavailable rather than run a restricted command without its sandbox. */
  async wrap(input: WrapInput): Promise<WrappedCommand> {
    const { argv } = input;
    if (input.permissions.type === 'fullAccess') return { argv: [...argv], sandboxed: false, release: () => {} };
    const permissions = withoutMoved(input.permissions);
    const kind = await this.kind();
    if (kind.type === 'none') throw new SandboxUnavailable(kind.reason);
    const roots = permissions.writableRoots.filter((root) => fs.existsSync(root));
    const always = this.#alwaysGuarded.map(realPath).filter((p) => fs.existsSync(p));
    if (kind.type === 'seatbelt') {
      const reserved = roots.flatMap((root) => RESERVED_NAMES.map((name) => path.join(root, name)));
      const guarded = [...(await this.#guarded.under(roots)), ...reserved, ...always];
      return { argv: seatbeltArgv(permissions, guarded, argv), sandboxed: true, release: () => {} };
    }
    const held = input.reserves === false ? [] : roots.flatMap((root) => this.#mountPoints.hold(root));
    let open = true;
    const release = (): void => {
      if (open) this.#mountPoints.release(held);
      open = false;
    };
    try {
      const found = await this.#guarded.under(roots);
      const covered = always.filter((p) => [...roots, ...permissions.scratchRoots].some((root) => isWithin(root, p)));
      const guarded = [...new Set([...found, ...held, ...covered])];
      const bash = BASH_PLACES.find((p) => fs.existsSync(p));
      const uid = process.getuid?.() ?? 0;
      return { argv: bubblewrapArgv(kind.program, { ...input, permissions, guarded, uid, bash }), sandboxed: true, release };
    } catch (error) {
      release();
      throw error;
    }
  }
}
