// node scripts/bench/context.mjs: what a step pays for its prompt, and a start for its configuration, measured on the sources themselves.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import esbuild from 'esbuild';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
const ITEMS = 2_000;
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'harnessd-bench-context-'));

/** The sources are TypeScript, which node 20 does not run: bundled to a passing file first. */
async function sources() {
  const outfile = path.join(scratch, 'parts.mjs');
  const contents = `export { buildRequest } from './src/session/prompt.ts';
export { History } from './src/session/history.ts';
export { World } from './src/session/world.ts';
export { cardFor } from './src/model/card.ts';
export { SkillReader } from './src/session/skills.ts';
export { loadConfig } from './src/config/load.ts';`;
  await esbuild.build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  return import(pathToFileURL(outfile).href);
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

async function timed(rounds, work) {
  const took = [];
  for (let i = 0; i < rounds; i++) {
    const began = performance.now();
    await work(i);
    took.push(performance.now() - began);
  }
  return median(took);
}

function longHistory(History) {
  const history = new History();
  const text = (role, value) => ({ type: 'message', role, content: [{ type: 'input_text', text: value }] });
  for (let i = 0; history.length < ITEMS; i++) {
    const turnId = `t${i >> 3}`;
    if (i % 8 === 0) history.append({ origin: 'user', turnId, item: text('user', `question ${i}`) });
    history.append({
      origin: 'model',
      turnId,
      item: { type: 'function_call', call_id: `c${i}`, name: 'exec_command', arguments: '{"cmd":"ls"}' },
    });
    history.append({ origin: 'tool', turnId, item: { type: 'function_call_output', call_id: `c${i}`, output: 'x'.repeat(400) } });
  }
  return history;
}

async function prompt({ buildRequest, History, World, cardFor, SkillReader, loadConfig }) {
  const home = path.join(scratch, 'home');
  const cwd = path.join(scratch, 'work');
  for (let i = 0; i < 20; i++) {
    const folder = path.join(home, 'skills', `skill-${i}`);
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'SKILL.md'), `---\nname: skill-${i}\ndescription: Does the thing that has number ${i}\n---\nBody\n`);
  }
  fs.mkdirSync(path.join(cwd, '.git'), { recursive: true });
  fs.writeFileSync(path.join(cwd, 'AGENTS.md'), 'rule\n'.repeat(400));
  const loaded = await loadConfig({ home, env: {}, cwd });
  const reader = new SkillReader(home);
  const world = new World({
    home,
    shellName: 'bash',
    docs: { maxBytes: 32_768, fallbackNames: [], rootMarkers: ['.git'] },
    tellsContextLeft: false,
    skills: () => reader.read(loaded),
    warn: () => {},
  });
  const history = longHistory(History);
  const settings = {
    model: 'gpt-5.5',
    cwd,
    approvalPolicy: 'on-request',
    sandbox: { type: 'readOnly', networkAccess: false },
    collaborationMode: null,
  };
  const step = {
    facts: { threadId: 't', turnId: 'u' },
    router: { plan: { specs: [], deferred: [] } },
    binding: { card: cardFor('gpt-5.5') },
    settings: {
      effort: null,
      summary: null,
      serviceTier: null,
      baseInstructions: null,
      developerInstructions: null,
      personality: null,
      ...settings,
    },
  };
  const build = async (turnId) => {
    for (const entry of await world.changes(step, history.entries, turnId)) history.append(entry);
    return buildRequest(history, step, { sessionId: 's' });
  };
  await build('warm');
  return {
    'a step of a turn: sections and request of 2 000 items': [await timed(200, () => build('same')), 3],
    'the first step of a turn: AGENTS.md and 20 skills looked at, too': [await timed(50, (i) => build(`turn ${i}`)), undefined],
  };
}

async function configuration({ loadConfig }) {
  const home = path.join(scratch, 'config-home');
  fs.mkdirSync(home);
  const lines = ['model = "m"', 'model_provider = "p"', '[model_providers.p]', 'base_url = "http://localhost:1/v1"'];
  for (let i = 0; i < 10; i++)
    lines.push(`[mcp_servers.s${i}]`, 'command = "x"', 'args = ["a", "b"]', `[projects."/some/project/${i}"]`, 'trust_level = "trusted"');
  fs.writeFileSync(path.join(home, 'config.toml'), `${lines.join('\n')}\n`);
  const load = () => loadConfig({ home, env: {}, cwd: scratch, overrides: ['model="n"'] });
  const cold = await timed(1, load);
  return {
    'the configuration read for the first time in a process': [cold, undefined],
    'the same once the parser is there': [await timed(50, load), 3],
  };
}

try {
  const parts = await sources();
  const figures = { ...(await configuration(parts)), ...(await prompt(parts)) };
  for (const [what, [ms, most]] of Object.entries(figures)) {
    const target = most === undefined ? '' : `  ≤ ${most} ms  ${ms <= most ? 'met' : 'MISSED'}`;
    console.log(`${what.padEnd(66)} ${ms.toFixed(2).padStart(7)} ms${target}`);
    if (most !== undefined && ms > most) process.exitCode = 1;
  }
} finally {
  fs.rmSync(scratch, { recursive: true, force: true });
}
