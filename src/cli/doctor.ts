// `harnessd doctor`: tries what a daemon needs from this machine, and says for each finding what to do. Loaded on use only.
import { accessSync, constants, statSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { messageOf, systemCode } from '../common/errors.ts';
import { HARNESSD_VERSION, PROTOCOL_VERSION } from '../common/version.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { type ProviderSettings, providerOf } from '../config/provider.ts';
import { LocalProcessRunner } from '../exec/runner.ts';
import { detectSandbox } from '../exec/sandbox/detect.ts';
import { findShell } from '../exec/shell.ts';
import { storedApiKey } from '../server/stored-key.ts';
import { ThreadStore } from '../session/thread-store.ts';

export interface Finding {
  readonly level: 'ok' | 'warning' | 'failure';
  readonly what: string;
  readonly text: string;
  /** What to do; present unless all is well. */
  readonly advice?: string;
}

export interface DoctorOptions {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly overrides: readonly string[];
  readonly profile: string | null;
  /** Sends one request to the provider in use; without it nothing leaves the machine. */
  readonly online: boolean;
}

const REACH_MS = 8_000;
const PROBE_MS = 10_000;

const ok = (what: string, text: string): Finding => ({ level: 'ok', what, text });
const warning = (what: string, text: string, advice: string): Finding => ({ level: 'warning', what, text, advice });
const failure = (what: string, text: string, advice: string): Finding => ({ level: 'failure', what, text, advice });

function versions(): Finding {
  const text = `harnessd ${HARNESSD_VERSION}, protocol ${PROTOCOL_VERSION}, node ${process.versions.node}, ${process.platform} ${process.arch}`;
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > 20 || (major === 20 && minor >= 19) ? ok('versions', text) : failure('versions', text, 'Install node 20.19 or later.');
}

function homeFolder(home: string): Finding {
  const found = statSync(home, { throwIfNoEntry: false });
  if (!found) return ok('home', `${home} will be made by the first start`);
  try {
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    return failure(
      'home',
      `${home} cannot be used (${systemCode(error)})`,
      'Give yourself the rights to it, or set HARNESSD_HOME to another folder.',
    );
  }
  const open = found.mode & 0o077;
  if (open !== 0) return warning('home', `${home} is open to other users`, `It holds threads and perhaps a key: chmod 700 ${home}`);
  return ok('home', home);
}

/** The findings, and the configuration for the checks after it when there is one. */
async function configuration(options: DoctorOptions): Promise<{ findings: Finding[]; loaded: LoadedConfig | null }> {
  const loaded = await loadConfig({ ...options, cwd: process.cwd() });
  if (!loaded.ok)
    return { findings: [failure('config', loaded.error.message, 'Correct it there; harnessd config check shows the rest.')], loaded: null };
  const files = loaded.layers.filter(({ file, text }) => file !== null && text !== '').map(({ file }) => file);
  const findings = loaded.warnings.map(({ summary, details }) => warning('config', summary, details ?? 'Correct or remove it.'));
  return {
    findings: findings.length > 0 ? findings : [ok('config', files.length > 0 ? files.join(', ') : 'built-in values only')],
    loaded,
  };
}

async function sandbox(): Promise<Finding> {
  const kind = await detectSandbox();
  if (kind.type !== 'none') return ok('sandbox', kind.type === 'bubblewrap' ? `bubblewrap at ${kind.program}` : kind.type);
  return warning(
    'sandbox',
    `commands cannot be sandboxed: ${kind.reason}`,
    'Install bubblewrap (and allow unprivileged user namespaces). Until then commands that do more than read need an approval.',
  );
}

/** Runs a program; undefined when it said what it should. */
async function problemOf(runner: LocalProcessRunner, argv: string[], tty: boolean, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  const own = Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
  const running = runner.start({ argv, cwd: '/', env: own, tty, stdin: 'closed', merged: true, timeoutMs: PROBE_MS });
  running.onOutput(({ bytes }) => chunks.push(bytes));
  const outcome = await running.exited;
  if (outcome.type === 'failedToStart') return outcome.reason;
  const said = Buffer.concat(chunks).toString('utf8').trim();
  return outcome.type === 'exited' && outcome.exitCode === 0 && said.endsWith('well') ? undefined : `it ended with ${outcome.exitCode}`;
}

async function shellAndTerminal(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const runner = new LocalProcessRunner();
  const shell = await findShell(env);
  const [plain, terminal] = await Promise.all([
    problemOf(runner, [shell.path, '-c', 'echo well'], false, env),
    problemOf(runner, [shell.path, '-c', 'test -t 0 && echo well'], true, env).catch(messageOf),
  ]);
  await runner.endAll(0);
  return [
    plain === undefined
      ? ok('shell', shell.path)
      : failure('shell', `${shell.path} does not run: ${plain}`, 'Set SHELL to bash, zsh or sh with its full path.'),
    terminal === undefined
      ? ok('terminals', 'a command ran on a terminal')
      : failure(
          'terminals',
          `no terminal can be opened: ${terminal}`,
          'Install again with optional dependencies (npm install without --omit=optional).',
        ),
  ];
}

async function threads(home: string): Promise<Finding> {
  try {
    return ok('threads', `${await new ThreadStore(home).count()} stored`);
  } catch (error) {
    return failure('threads', `the stored threads cannot be listed: ${messageOf(error)}`, `Look at ${home}/sessions.`);
  }
}

const keyOf = (provider: ProviderSettings, { env, home }: DoctorOptions): string | undefined =>
  provider.apiKey?.() ?? ((provider.envKey && env[provider.envKey]) || (provider.id === 'openai' ? storedApiKey(home) : undefined));

/** Status of `GET base_url/models`, or the reason why there is none. The key is in a header only. */
function reach(provider: ProviderSettings, key: string | undefined): Promise<number | string> {
  return new Promise((resolve) => {
    const base = new URL(provider.baseUrl);
    base.pathname = `${base.pathname.replace(/\/+$/, '')}/models`;
    for (const [name, value] of Object.entries(provider.queryParams)) base.searchParams.set(name, value);
    const auth: Record<string, string> =
      key === undefined
        ? {}
        : provider.wireApi === 'anthropic'
          ? { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
          : { authorization: `Bearer ${key}` };
    const send = base.protocol === 'https:' ? httpsRequest : httpRequest;
    const sent = send(base, { headers: { ...auth, ...provider.httpHeaders }, timeout: REACH_MS }, (response) => {
      response.destroy();
      resolve(response.statusCode ?? 0);
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${REACH_MS / 1000} s`)));
    sent.on('error', (error) => resolve(systemCode(error) ?? messageOf(error)));
    sent.end();
  });
}

async function provider({ config }: LoadedConfig, options: DoctorOptions): Promise<Finding> {
  const used = providerOf(config, config.model_provider);
  const what = `provider ${config.model_provider}`;
  if (!used) return failure(what, 'it is not configured', 'Choose another model_provider.');
  if (used.fault) return failure(what, used.fault, `Correct [model_providers.${used.id}].`);
  if (used.wireApi === 'scripted') return ok(what, 'plays a script; no model is asked');
  if (used.keyCommand)
    return ok(what, `model ${config.model}; its key comes from ${used.keyCommand[0] ?? 'an empty api_key_command'}, which was not run`);
  const key = keyOf(used, options);
  if (used.envKey !== undefined && key === undefined)
    return failure(
      what,
      `there is no key: ${used.envKey} is not set`,
      used.envKeyInstructions ?? `Set ${used.envKey}, or choose another model_provider.`,
    );
  if (!options.online) return ok(what, `model ${config.model}; not asked (harnessd doctor --online sends one request)`);
  const answer = await reach(used, key);
  const { host } = new URL(used.baseUrl);
  if (typeof answer === 'string') return failure(what, `${host} cannot be reached: ${answer}`, 'Check base_url, network and proxy.');
  if (answer === 401 || answer === 403)
    return failure(what, `${host} refused the key (${answer})`, 'Check the key, and that it belongs to this provider.');
  // A server without a list of models answers 404, and is there all the same.
  return answer >= 500
    ? warning(what, `${host} answers ${answer}`, 'The provider has a fault; try again later.')
    : ok(what, `${host} answers`);
}

/** In the order in which a start needs them. */
export async function examine(options: DoctorOptions): Promise<Finding[]> {
  const { findings, loaded } = await configuration(options);
  return [
    versions(),
    homeFolder(options.home),
    ...findings,
    await sandbox(),
    ...(await shellAndTerminal(options.env)),
    await threads(options.home),
    ...(loaded ? [await provider(loaded, options)] : []),
  ];
}

const MARKS: Readonly<Record<Finding['level'], string>> = { ok: 'ok     ', warning: 'warning', failure: 'FAILURE' };

/** Exit code 1 when something fails that a daemon cannot do without. */
export async function doctor(options: DoctorOptions): Promise<{ text: string; exitCode: number }> {
  const findings = await examine(options);
  const lines = findings.flatMap(({ level, what, text, advice }) => [
    `${MARKS[level]}  ${what}: ${text}`,
    ...(advice === undefined ? [] : [`         → ${advice}`]),
  ]);
  return { text: `${lines.join('\n')}\n`, exitCode: findings.some(({ level }) => level === 'failure') ? 1 : 0 };
}
