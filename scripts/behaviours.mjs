// The manifest of behaviours: test/behaviours/<area>.json lists each id with a sentence, each test cites its id as `[area.name]`.
//   --check   fails when a listed id has no test, or a test cites an unlisted id (the default)
//   --write   adds ids that tests cite, with the title as the sentence; ids without a test stay, to be tested or taken out by hand
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const folder = path.join(root, 'test', 'behaviours');
/** A title as first argument of `it(…)` or of what `it.each(…)`, `it.skipIf(…)` and the like give. */
const TITLE = /(?:\b(?:it|test)(?:\.\w+)*|[)\]])\(\s*(['"`])\[([a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+)\]\s*((?:\\.|(?!\1)[^\\])*)\1/g;

function citedBehaviours() {
  const cited = new Map();
  const files = fs.readdirSync(path.join(root, 'test'), { recursive: true }).filter((name) => name.endsWith('.test.ts'));
  for (const name of files.sort()) {
    for (const [, , id, title] of fs.readFileSync(path.join(root, 'test', name), 'utf8').matchAll(TITLE)) {
      if (!cited.has(id)) cited.set(id, title.replace(/\\(.)/g, '$1').trim());
    }
  }
  return cited;
}

function listedBehaviours() {
  if (!fs.existsSync(folder)) return new Map();
  const listed = new Map();
  for (const name of fs.readdirSync(folder).filter((file) => file.endsWith('.json'))) {
    const area = name.replace(/\.json$/, '');
    for (const [id, sentence] of Object.entries(JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')))) {
      if (areaOf(id) !== area) throw new Error(`${name} lists ${id}, which belongs into ${areaOf(id)}.json`);
      listed.set(id, sentence);
    }
  }
  return listed;
}

const areaOf = (id) => id.split('.')[0];

function write(behaviours) {
  fs.mkdirSync(folder, { recursive: true });
  const ids = [...behaviours.keys()].sort();
  for (const area of new Set(ids.map(areaOf))) {
    const own = Object.fromEntries(ids.filter((id) => areaOf(id) === area).map((id) => [id, behaviours.get(id)]));
    fs.writeFileSync(path.join(folder, `${area}.json`), `${JSON.stringify(own, null, 2)}\n`);
  }
}

const cited = citedBehaviours();
const listed = listedBehaviours();
const unlisted = [...cited.keys()].filter((id) => !listed.has(id));

if (process.argv.includes('--write')) {
  write(new Map([...cited, ...listed]));
  console.log(`test/behaviours: ${unlisted.length} added, ${listed.size + unlisted.length} in all`);
} else {
  const untested = [...listed.keys()].filter((id) => !cited.has(id));
  for (const id of unlisted) console.log(`[${id}] is cited by a test and not listed. Run: npm run behaviours`);
  for (const id of untested) console.log(`[${id}] is listed and cited by no test`);
  process.exitCode = unlisted.length + untested.length > 0 ? 1 : 0;
}
