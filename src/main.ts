// The command line: argv → a front door. Whatever is printed by libraries goes to stderr from the first line on; stdout is the protocol's.

import { parseArgs } from 'node:util';
import { messageOf } from './common/errors.ts';
import { HARNESSD_VERSION, PROTOCOL_VERSION } from './common/version.ts';
import type { ListenAddress } from './server/listen.ts';

// Made when something first prints: most runs never do.
let stderrConsole: Console | undefined;
Object.defineProperty(globalThis, 'console', {
  configurable: true,
  get: () => (stderrConsole ??= new (process.getBuiltinModule('node:console').Console)(process.stderr, process.stderr)),
  set: (other: Console) => {
    stderrConsole = other;
  },
});

const HELP = `harnessd ${HARNESSD_VERSION}: an agent-harness daemon

Usage
  harnessd app-server [--listen ADDRESS] [-c KEY=VALUE]... [--profile NAME]
      Serves one frontend: JSON-RPC over stdio, one message a line (or Content-Length framing).
      ADDRESS: stdio:// (default), or for several frontends unix:///PATH or ws://127.0.0.1:PORT,
      where clients present the token of HARNESSD_LISTEN_TOKEN or of the file listen-token in the home.
  harnessd config check [-c KEY=VALUE]... [--profile NAME]
      Prints the configuration in force in this folder, and where each value comes from.
  harnessd doctor [--online]
      Tries what a daemon needs from this machine; with --online also whether the model provider answers.
  harnessd generate-json-schema --out DIR
  harnessd generate-ts --out DIR
      Writes the protocol's schemas or TypeScript types.
  harnessd --version | --help

Environment
  HARNESSD_HOME   home folder (default ~/.harnessd): config.toml, sessions, rules
  HARNESSD_LOG    log level on stderr: trace, debug, info, warn (default), error, silent
`;

class UsageError extends Error {}

const print = (text: string): Promise<void> => new Promise((resolve) => process.stdout.write(text, () => resolve()));

interface Options {
  command: string | undefined;
  overrides: string[];
  listen: string;
  profile: string | null;
  out: string | undefined;
  online: boolean;
  help: boolean;
  version: boolean;
}

function readArgv(argv: string[]): Options {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        config: { type: 'string', short: 'c', multiple: true },
        listen: { type: 'string' },
        profile: { type: 'string', short: 'p' },
        out: { type: 'string', short: 'o' },
        online: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'V' },
      },
    });
    const [command, ...more] = positionals;
    if (command === 'config' && more[0] === 'check') more.shift();
    else if (command === 'config') throw new UsageError('config: the one thing to do with it here is `config check`');
    if (more.length > 0) throw new UsageError(`unexpected argument: ${more[0]}`);
    return {
      command,
      overrides: values.config ?? [],
      listen: values.listen ?? 'stdio://',
      profile: values.profile ?? null,
      out: values.out,
      online: values.online ?? false,
      help: values.help ?? false,
      version: values.version ?? false,
    };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(messageOf(error));
  }
}

/** The first part is what clients look for: the name and version of the protocol that they speak. */
const VERSION = `codex-cli ${PROTOCOL_VERSION} (harnessd ${HARNESSD_VERSION})\n`;

/** A mistake on the command line ends the start. One in a file does not: it can be mended while the daemon runs, which says so. */
async function checkFlags({ overrides, profile }: Options, home: string): Promise<void> {
  if (overrides.length === 0 && profile === null) return;
  const { loadConfig } = await import('./config/load.ts');
  const loaded = await loadConfig({ home, env: process.env, overrides, profile });
  if (!loaded.ok && loaded.error.file === null) throw new UsageError(loaded.error.message);
}

async function serve(options: Options): Promise<void> {
  const address = await listenAddress(options.listen);
  const { resolveHome } = await import('./config/home.ts');
  const home = resolveHome(process.env);
  await checkFlags(options, home);
  const [{ Daemon }, { StdioTransport }, { logger }] = await Promise.all([
    import('./server/daemon.ts'),
    import('./server/transport.ts'),
    import('./common/log.ts'),
  ]);
  const daemon = new Daemon({ home, env: process.env, overrides: options.overrides, profile: options.profile });
  daemon.onExit((code) => process.exit(code));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void daemon.shutdown());
  // A fault in one thread is no reason to end the others.
  process.on('unhandledRejection', (error: unknown) => logger().error({ err: error }, 'a promise failed that nobody waited for'));
  if (address.type === 'stdio') daemon.serve(new StdioTransport());
  else process.stderr.write(`harnessd: listening on ${await daemon.listen(address, process.env)}\n`);
}

/** Nearly every start is over stdio: what reads other addresses is loaded for them only. */
async function listenAddress(text: string): Promise<ListenAddress> {
  if (text === 'stdio://') return { type: 'stdio' };
  const { parseListen } = await import('./server/listen.ts');
  const read = parseListen(text);
  if (!read.ok) throw new UsageError(`--listen: ${read.problem}`);
  return read.address;
}

/** Commands that look at this machine, print, and end. */
async function inspect(command: 'config' | 'doctor', { overrides, profile, online }: Options): Promise<void> {
  const { resolveHome } = await import('./config/home.ts');
  const common = { home: resolveHome(process.env), env: process.env, overrides, profile };
  const { text, exitCode } =
    command === 'config'
      ? await (await import('./cli/config-check.ts')).configCheck({ ...common, cwd: process.cwd() })
      : await (await import('./cli/doctor.ts')).doctor({ ...common, online });
  await print(text);
  process.exitCode = exitCode;
}

async function generate(kind: 'json-schema' | 'ts', out: string | undefined): Promise<void> {
  if (!out) throw new UsageError(`generate-${kind}: --out DIR is missing`);
  const { runGenerate } = await import('./cli/generate.ts');
  await runGenerate(kind, out);
}

async function main(): Promise<void> {
  const options = readArgv(process.argv.slice(2));
  if (options.version) return print(VERSION);
  if (options.help) return print(HELP);
  switch (options.command) {
    case 'app-server':
      return serve(options);
    case 'config':
    case 'doctor':
      return inspect(options.command, options);
    case 'generate-json-schema':
      return generate('json-schema', options.out);
    case 'generate-ts':
      return generate('ts', options.out);
    case undefined:
      throw new UsageError('a command is missing');
    default:
      throw new UsageError(`unknown command: ${options.command}`);
  }
}

main().catch((error: unknown) => {
  process.stderr.write(
    error instanceof UsageError ? `harnessd: ${error.message}\nTry harnessd --help.\n` : `harnessd: ${messageOf(error)}\n`,
  );
  process.exitCode = error instanceof UsageError ? 2 : 1;
});
