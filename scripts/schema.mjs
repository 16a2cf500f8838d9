// npm run schema: writes the protocol's JSON Schemas to schema/. With --check it writes nothing and fails when the folder differs.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import esbuild from 'esbuild';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const folder = path.join(root, 'schema');

/** The sources are TypeScript, which node 20 does not run: bundled to a passing file first. */
async function declaredFiles() {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'harnessd-schema-'));
  const outfile = path.join(scratch, 'schemas.mjs');
  const entry = path.join(root, 'src', 'cli', 'json-schemas.ts');
  try {
    await esbuild.build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' });
    const { schemaFiles } = await import(pathToFileURL(outfile).href);
    return schemaFiles();
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

const read = (name) => (fs.existsSync(path.join(folder, name)) ? fs.readFileSync(path.join(folder, name), 'utf8') : undefined);
const wanted = await declaredFiles();
const stray = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => !wanted.has(name)) : [];
const changed = [...wanted].filter(([name, text]) => read(name) !== text);

if (process.argv.includes('--check')) {
  const drift = [...changed.map(([name]) => name), ...stray].sort();
  if (drift.length > 0) {
    const more = drift.length > 5 ? ` and ${drift.length - 5} more` : '';
    console.error(`schema/ differs from src/protocol: ${drift.slice(0, 5).join(', ')}${more}. Run: npm run schema`);
    process.exitCode = 1;
  }
} else {
  fs.mkdirSync(folder, { recursive: true });
  for (const [name, text] of changed) fs.writeFileSync(path.join(folder, name), text);
  for (const name of stray) fs.rmSync(path.join(folder, name));
  console.log(`schema/: ${wanted.size} files, ${changed.length} written, ${stray.length} removed`);
}
