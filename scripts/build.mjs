// npm run build: sources → dist/, ready to run with node alone. `--entry`, `--out` and `--no-warm-up` serve the tests of the build itself.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { link, split, startUpParts } from './build/bundle.mjs';
import { writeLibraries } from './build/libraries.mjs';
import { observe, refusedCaches, writeColdCaches, writeWarmCaches } from './build/warm-up.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const here = path.join(root, 'scripts', 'build');
const require = createRequire(import.meta.url);
const { values } = parseArgs({
  options: { entry: { type: 'string' }, out: { type: 'string' }, quiet: { type: 'boolean' }, 'no-warm-up': { type: 'boolean' } },
});

const GRAMMARS = ['web-tree-sitter/web-tree-sitter.wasm', 'tree-sitter-bash/tree-sitter-bash.wasm'];

/** Which parts go into one file: by what a run shows, or, where none succeeds, all that the entry reaches by import statements. */
async function groupsFor(parts, staging) {
  const withoutRun = new Map([['main.cjs', startUpParts(parts)]]);
  if (values['no-warm-up']) return { groups: withoutRun, outcome: 'not warmed up' };
  try {
    writeFiles(staging, await link(parts, new Map(), root));
    const { start, more, problem } = await observe(staging);
    const early = new Set([...start, ...Object.values(more).flat()]);
    // Packages that neither needs stay on their own, as few of them are ever used together.
    const rest = [...parts.texts.keys()].filter((name) => !early.has(name) && !parts.packages.has(name));
    const files = { main: start, ...more, rest: rest.sort() };
    const groups = Object.entries(files).flatMap(([name, names]) => (names.length > 0 ? [[`${name}.cjs`, names]] : []));
    const inTurn = problem
      ? `not all of it: ${problem}`
      : Object.entries(more)
          .map(([name, names]) => `${names.length} for ${name}`)
          .join(', ');
    return { groups: new Map(groups), outcome: `warmed up: ${start.length} parts at start, ${inTurn}` };
  } catch (error) {
    return { groups: withoutRun, outcome: `not warmed up: ${error.message}` };
  } finally {
    fs.rmSync(staging, { recursive: true, force: true });
  }
}

/** Written beside dist and moved into place at the end: a build that fails leaves the old one. */
async function build() {
  const began = performance.now();
  const entry = path.resolve(values.entry ?? path.join(root, 'src', 'main.ts'));
  const out = path.resolve(values.out ?? path.join(root, 'dist'));
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  const parts = await split({ entry, version, root });
  const staging = `${out}.${process.pid}.tmp`;
  try {
    const { groups, outcome } = await groupsFor(parts, staging);
    const files = await link(parts, groups, root);
    writeFiles(staging, files);
    const warmed = groups.has('rest.cjs') ? await writeWarmCaches(staging, { turn: groups.has('turn.cjs') }) : '';
    writeColdCaches(staging);
    const caches = warmed + refusedCaches(staging);
    if (values.entry === undefined) await writeLibraries(staging, root);
    fs.rmSync(out, { recursive: true, force: true });
    fs.renameSync(staging, out);
    if (!values.quiet) report(out, files, outcome + caches, performance.now() - began);
  } finally {
    fs.rmSync(staging, { recursive: true, force: true });
  }
}

function writeFiles(folder, parts) {
  const lib = path.join(folder, 'lib');
  fs.mkdirSync(lib, { recursive: true });
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "type": "commonjs" }\n');
  fs.copyFileSync(path.join(here, 'loader.cjs'), path.join(folder, 'main.js'));
  fs.chmodSync(path.join(folder, 'main.js'), 0o755);
  fs.copyFileSync(path.join(here, 'source-maps.cjs'), path.join(folder, 'source-maps.js'));
  for (const [name, { code, map }] of parts) {
    fs.writeFileSync(path.join(lib, name), code);
    fs.writeFileSync(path.join(lib, `${name}.map`), map);
  }
  for (const file of GRAMMARS) fs.copyFileSync(require.resolve(file), path.join(lib, path.basename(file)));
}

function report(out, parts, warmUp, ms) {
  const kib = (bytes) => `${Math.round(bytes / 1024)} KiB`;
  const total = [...parts.values()].reduce((sum, { code }) => sum + code.length, 0);
  const main = parts.get('main.cjs').code.length;
  console.log(
    `${path.relative(process.cwd(), out) || '.'}: start-up part ${kib(main)}, ${parts.size} parts ${kib(total)}, ${Math.round(ms)} ms; ${warmUp}`,
  );
}

try {
  await build();
} catch (error) {
  // esbuild has printed what is wrong in the sources; its stack says nothing more.
  if (!error.errors) throw error;
  process.exitCode = 1;
}
