// Sources → parts. First one part for every module, then the parts that run together are joined into one scope and one file, and what
// crosses from file to file is fetched at its first use. So a start reads, and evaluates, what a start needs.
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';
import { FIRST_USE, importOnFirstUse } from './first-use.mjs';

/** Not bundled: native code, and packages that find their files by their own path. */
const EXTERNAL = ['node-pty', '@lydell/*', 'libsql', '@libsql/*', 'sharp', '@img/*'];
const COMMON = { platform: 'node', target: 'node20.19', charset: 'ascii', logLevel: 'warning', legalComments: 'none' };
/** import() becomes require(): scripts made by vm.Script have no module loader of their own. */
const TO_COMMON_JS = {
  ...COMMON,
  format: 'cjs',
  supported: { 'dynamic-import': false },
  logOverride: { 'direct-eval': 'silent' },
  sourcemap: 'external',
  sourcesContent: false,
};
const ALIAS = {
  // Its CommonJS form; the other one breaks when its own import() becomes require().
  'web-tree-sitter': createRequire(import.meta.url).resolve('web-tree-sitter'),
  'vscode-jsonrpc/node': fileURLToPath(new URL('jsonrpc-core.cjs', import.meta.url)),
};
const HEAD = '(function (exports, require, module, __filename, __dirname) {';
const META_URL = 'const import_meta_url = require("node:url").pathToFileURL(__filename).href;';
const MAIN = 'main.cjs';

/**
 * A part for every module of ours, and for every set of package modules that the same parts use.
 * Gives { texts, imports, packages }: source by part name, what a part imports, and the parts that hold package code.
 */
export async function split({ entry, version, root }) {
  const options = {
    ...COMMON,
    absWorkingDir: root,
    outdir: 'out',
    bundle: true,
    splitting: true,
    format: 'esm',
    external: EXTERNAL,
    alias: ALIAS,
    metafile: true,
    write: false,
    define: { 'import.meta.url': 'import_meta_url', __HARNESSD_VERSION__: JSON.stringify(version) },
  };
  const { metafile } = await esbuild.build({ ...options, entryPoints: [entry] });
  const isOurs = (file) => !file.includes('node_modules/') && !file.startsWith('scripts/build/');
  const ours = Object.keys(metafile.inputs).filter((file) => isOurs(file) && path.resolve(root, file) !== path.resolve(entry));
  const result = await esbuild.build({
    ...options,
    entryPoints: [
      { in: entry, out: 'main' },
      ...ours.map((file) => ({ in: path.resolve(root, file), out: `entry/${file.replace(/\W+/g, '-')}` })),
    ],
    outExtension: { '.js': '.cjs' },
    entryNames: '[name]',
    chunkNames: 'part-[hash]',
    sourcemap: 'inline',
    sourcesContent: false,
  });
  const outputs = new Map(Object.entries(result.metafile.outputs).map(([file, output]) => [path.basename(file), output]));
  const imports = new Map([...outputs].map(([name, output]) => [name, output.imports.filter((one) => !one.external)]));
  // Naming every module an entry gives each a second, empty part that only passes its exports on: nobody imports those.
  const used = reach(imports, [MAIN], () => true);
  return {
    texts: new Map(result.outputFiles.map((file) => [path.basename(file.path), file.text]).filter(([name]) => used.has(name))),
    imports,
    packages: new Set([...outputs].filter(([, output]) => !Object.keys(output.inputs).some(isOurs)).map(([name]) => name)),
  };
}

function reach(imports, names, follows) {
  const reached = new Set(names);
  for (const name of reached) {
    for (const { path: file, kind } of imports.get(name) ?? []) if (follows(kind)) reached.add(path.basename(file));
  }
  return reached;
}

/** All that the entry imports, directly or not, before anything runs. */
export const startUpParts = ({ imports }) => [...reach(imports, [MAIN], (kind) => kind === 'import-statement')].sort();

/** Joins the parts `names` into one file. Others reach them through it: its export `./part.cjs` is what that part exports. */
async function join({ texts }, names) {
  const namespace = 'part';
  const plugin = {
    name: 'parts',
    setup(build) {
      // A path that ends in .cjs would make esbuild take these ES modules for CommonJS.
      const asModule = (id) => id.replace(/\.cjs$/, '.js');
      // import() stays a look-up through the loader: taken in, it would make a function of every module that it reaches.
      build.onResolve({ filter: /.*/ }, ({ path: id, kind }) =>
        kind !== 'dynamic-import' && names.includes(id.slice(2))
          ? { path: asModule(id), namespace, pluginData: id }
          : { path: id, external: true },
      );
      build.onLoad({ filter: /.*/, namespace }, ({ pluginData: id }) => ({ contents: texts.get(id.slice(2)), loader: 'js' }));
    },
  };
  const lines = names.map((name) => (name === MAIN ? `import "./${name}";` : `export * as "./${name}" from "./${name}";`));
  const result = await esbuild.build({
    ...TO_COMMON_JS,
    stdin: { contents: lines.join('\n'), sourcefile: 'entry.js' },
    bundle: true,
    plugins: [plugin],
    outfile: 'out.cjs',
    write: false,
  });
  const [code, map] = ['.cjs', '.map'].map((ending) => result.outputFiles.find((output) => output.path.endsWith(ending)).text);
  return { code, map };
}

/** Part names in the code become members of the file that holds the part. */
function throughFiles(code, { texts, packages }, fileOf) {
  const member = (name) => (fileOf(name) === name ? `require("./${name}")` : `require("./${fileOf(name)}")["./${name}"]`);
  const isCommonJs = (name) => /^export default require_\w+\(\);$/m.test(texts.get(name));
  return (
    code
      // Modules of ours do nothing when they load, so an import for the sake of the order alone has no effect.
      .replace(/^require\("\.\/([\w-]+\.cjs)"\);$/gm, (line, name) => (packages.has(name) ? line : ''))
      // For import() of a CommonJS package esbuild gives the default export only; node gives the names as well, and so do we.
      .replace(/(__toESM\d*)\(require\("\.\/([\w-]+\.cjs)"\)\)/g, (_, toModule, name) =>
        isCommonJs(name) ? `${toModule}(${member(name)}.default, 1)` : member(name),
      )
      .replace(/\brequire\("\.\/([\w-]+\.cjs)"\)(?!\[)/g, (_, name) => member(name))
  );
}

/** The wrapper adds one line above, which a source map counts as one semicolon. */
function finish({ code, map: mapText }, root) {
  const head = HEAD + FIRST_USE + (code.includes('import_meta_url') ? META_URL : '');
  const map = JSON.parse(mapText);
  const sources = map.sources.map((source) => path.relative(root, path.resolve(root, 'out', source.replace(/^part:/, ''))));
  return { code: `${head}\n${importOnFirstUse(code)}})`, map: JSON.stringify({ ...map, sources, mappings: `;${map.mappings}` }) };
}

/** `groups` maps a file name to the parts it is joined of; a part in no group is a file of its own. Gives file name → { code, map }. */
export async function link(parts, groups, root) {
  const owner = new Map([...groups].flatMap(([file, names]) => names.map((name) => [name, file])));
  const fileOf = (name) => owner.get(name) ?? name;
  const complete = ({ code, map }) => finish({ code: throughFiles(code, parts, fileOf), map }, root);
  const joined = [...groups].map(async ([file, names]) => [file, complete(await join(parts, names))]);
  const single = [...parts.texts]
    .filter(([name]) => !owner.has(name))
    .map(async ([name, text]) => [name, complete(await esbuild.transform(text, { ...TO_COMMON_JS, sourcefile: name }))]);
  return new Map(await Promise.all([...joined, ...single]));
}
