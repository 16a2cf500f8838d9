// npm run bench: drives the built daemon as a frontend would and prints what it takes, beside what it may take.
//   --only NAME,NAME   some scenarios      --daemon 'CMD ARGS'   another program of the same protocol      --json   figures only
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { FIGURES as OF_COMMANDS } from './bench/commands.mjs';
import { scenarios as ofDaemon } from './bench/scenarios.mjs';
import { FIGURES as OF_THREADS, threadScenarios } from './bench/threads.mjs';
import { FIGURES as OF_TOOLS, tools } from './bench/tools.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const { values } = parseArgs({ options: { only: { type: 'string' }, daemon: { type: 'string' }, json: { type: 'boolean' } } });
const command = values.daemon?.split(' ') ?? [process.execPath, path.join(root, 'dist', 'main.js'), 'app-server'];

/** Figures without a bound are shown to be compared between machines and versions. */
const FIGURES = {
  coldRatio: { what: 'cold start to the initialize answer, over bare node', unit: '×', most: 1.6 },
  coldMs: { what: 'the same in milliseconds', unit: 'ms' },
  bareMs: { what: 'bare node -e 0', unit: 'ms' },
  firstTurnMs: { what: 'first turn of a daemon', unit: 'ms' },
  turnMs: { what: 'plain turn, model without latency', unit: 'ms', most: 10 },
  idleMb: { what: 'resident memory, idle after a turn', unit: 'MB', most: 90 },
  deltasPerSecond: { what: '20 000 deltas in one message', unit: '/s', least: 40_000 },
  dynamicMs: { what: 'a dynamic tool call, there and back', unit: 'ms' },
  ...OF_COMMANDS,
  ...OF_THREADS,
  ...OF_TOOLS,
};

const scenarios = { ...ofDaemon, ...threadScenarios, tools };

const shown = (value) => (value >= 1000 ? Math.round(value).toString() : value.toFixed(value < 10 ? 2 : 1));

function line(name, value) {
  const { what, unit, most, least } = FIGURES[name];
  const target = most !== undefined ? `≤ ${most}` : least !== undefined ? `≥ ${least}` : '';
  const met = (most === undefined || value <= most) && (least === undefined || value >= least);
  const verdict = target === '' ? '' : met ? 'met' : 'MISSED';
  return `${what.padEnd(52)} ${`${shown(value)} ${unit}`.padStart(12)}  ${target.padEnd(9)} ${verdict}`.trimEnd();
}

const wanted = values.only?.split(',') ?? Object.keys(scenarios);
const unknown = wanted.filter((name) => !(name in scenarios));
if (unknown.length > 0) throw new Error(`no scenario ${unknown.join(', ')}; there are ${Object.keys(scenarios).join(', ')}`);

const all = {};
for (const name of wanted) {
  try {
    const figures = await scenarios[name](command);
    Object.assign(all, figures);
    if (!values.json) for (const [figure, value] of Object.entries(figures)) console.log(line(figure, value));
  } catch (error) {
    console.error(`${name}: ${error.message}`);
    process.exitCode = 1;
  }
}
if (values.json) console.log(JSON.stringify(all));
