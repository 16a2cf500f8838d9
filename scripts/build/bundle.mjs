// Sources → start-up part and lazy parts, each one CommonJS function in one file. Two passes: the first splits at every dynamic
// import, the second joins all that the entry needs at once into a single scope, so that a start reads one file.
import { createRequire } from 'node:module';
import path from 'node:path';
import esbuild from 'esbuild';

/** Not bundled: native code, and packages that find their files by their own path. */
const EXTERNAL = ['node-pty', '@lydell/*', 'libsql', '@libsql/*', 'sharp', '@img/*'];
const COMMON = { platform: 'node', target: 'node20.19', charset: 'ascii', logLevel: 'warning', legalComments: 'none' };
/** import() becomes require(): scripts made by vm.Script have no module loader of their own. */
const TO_COMMON_JS = { ...COMMON, format: 'cjs', supported: { 'dynamic-import': false } };
/** Its CommonJS form; the other one breaks when its own import() becomes require(). */
const ALIAS = { 'web-tree-sitter': createRequire(import.meta.url).resolve('web-tree-sitter') };
const HEAD = '(function (exports, require, module, __filename, __dirname) {';
const META_URL = 'const import_meta_url = require("node:url").pathToFileURL(__filename).href;';

async function split({ entry, version, root }) {
  const result = await esbuild.build({
    ...COMMON,
    absWorkingDir: root,
    entryPoints: { main: entry },
    outdir: 'out',
    bundle: true,
    splitting: true,
    format: 'esm',
    external: EXTERNAL,
    alias: ALIAS,
    outExtension: { '.js': '.cjs' },
    chunkNames: 'part-[name]-[hash]',
    sourcemap: 'inline',
    sourcesContent: false,
    metafile: true,
    write: false,
    define: { 'import.meta.url': 'import_meta_url', __HARNESSD_VERSION__: JSON.stringify(version) },
  });
  const parts = new Map(result.outputFiles.map((file) => [path.basename(file.path), file.text]));
  const imports = new Map(Object.entries(result.metafile.outputs).map(([file, output]) => [path.basename(file), output.imports]));
  return { parts, imports };
}

/** Names of the parts that the entry imports, directly or not, before anything runs. */
function startUpParts(imports) {
  const needed = new Set(['main.cjs']);
  for (const name of needed) {
    for (const { path: file, kind, external } of imports.get(name) ?? []) {
      if (kind === 'import-statement' && !external) needed.add(path.basename(file));
    }
  }
  needed.delete('main.cjs');
  return [...needed].sort();
}

async function join(parts, names) {
  const inScope = new Set([...names, 'main.cjs'].map((name) => `./${name}`));
  const namespace = 'part';
  const plugin = {
    name: 'start-up-parts',
    setup(build) {
      // A path that ends in .cjs would make esbuild take these ES modules for CommonJS.
      const asModule = (id) => id.replace(/\.cjs$/, '.js');
      build.onResolve({ filter: /.*/ }, ({ path: id }) =>
        inScope.has(id) ? { path: asModule(id), namespace, pluginData: id } : { path: id, external: true },
      );
      build.onLoad({ filter: /.*/, namespace }, ({ pluginData: id }) => ({ contents: parts.get(id.slice(2)), loader: 'js' }));
    },
  };
  const shared = names.map((name) => `export * as "./${name}" from "./${name}";`);
  const result = await esbuild.build({
    ...TO_COMMON_JS,
    stdin: { contents: ['import "./main.cjs";', ...shared].join('\n'), sourcefile: 'entry.js' },
    bundle: true,
    plugins: [plugin],
    outfile: 'main.cjs',
    sourcemap: 'external',
    sourcesContent: false,
    write: false,
  });
  const text = (ending) => result.outputFiles.find((file) => file.path.endsWith(ending)).text;
  return { code: text('main.cjs'), map: text('.map') };
}

/** esbuild gives import() of a bundled CommonJS package its default export only; node gives the names as well, and so do we. */
function withNames(source) {
  return source.replace(
    /^export default (require_\w+)\(\);$/m,
    (_, name) => `module.exports = { ...${name}(), default: ${name}(), __esModule: true };`,
  );
}

/** The wrapper adds one line above, which a source map counts as one semicolon. */
function finish(code, mapText, root) {
  const head = HEAD + (code.includes('import_meta_url') ? META_URL : '');
  const map = JSON.parse(mapText);
  const sources = map.sources.map((source) => path.relative(root, path.resolve(root, 'out', source.replace(/^part:/, ''))));
  return { code: `${head}\n${code}})`, map: JSON.stringify({ ...map, sources, mappings: `;${map.mappings}` }) };
}

/** Gives a map from file name to { code, map }; `main.cjs` is the start-up part. */
export async function bundle({ entry, version, root }) {
  const { parts, imports } = await split({ entry, version, root });
  const names = startUpParts(imports);
  const joined = await join(parts, names);
  const out = new Map([['main.cjs', finish(joined.code, joined.map, root)]]);
  for (const [name, source] of parts) {
    if (name === 'main.cjs' || names.includes(name)) continue;
    const { code, map } = await esbuild.transform(withNames(source), {
      ...TO_COMMON_JS,
      sourcefile: name,
      sourcemap: 'external',
      sourcesContent: false,
    });
    out.set(name, finish(code, map, root));
  }
  return out;
}
