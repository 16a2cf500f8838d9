// Loads the shell grammar on first use (about 30 ms) and hands out one parser for the process.
// The files are looked for beside our own code only, never in the working folder: a repository must not bring its own grammar.
import fs from 'node:fs';
import path from 'node:path';
import v8 from 'node:v8';
import type { Parser } from 'web-tree-sitter';

const PACKAGES: Readonly<Record<string, string>> = {
  'tree-sitter-bash.wasm': 'tree-sitter-bash',
  'web-tree-sitter.wasm': 'web-tree-sitter',
};

/** The folders our code runs from: the bundle's own, then the entry script's. */
function ownFolders(): string[] {
  const files = [typeof __filename === 'string' ? __filename : undefined, process.argv[1]];
  const folders: string[] = [];
  for (const file of files) {
    if (file === undefined || !path.isAbsolute(file)) continue;
    const real = fs.existsSync(file) ? fs.realpathSync(file) : file;
    folders.push(path.dirname(real));
  }
  return folders;
}

/** Where `name` lies: next to the bundle, or in the node_modules of a folder above our code. Throws with the places tried. */
export function wasmPath(name: string): string {
  const tried: string[] = [];
  for (const start of ownFolders()) {
    for (let folder = start; ; folder = path.dirname(folder)) {
      for (const file of [path.join(folder, name), path.join(folder, 'node_modules', PACKAGES[name] ?? '', name)]) {
        if (fs.existsSync(file)) return file;
        tried.push(file);
      }
      if (folder === path.dirname(folder)) break;
    }
  }
  throw new Error(`${name} is missing; looked in ${tried.slice(0, 4).join(', ')} and the folders above`);
}

/** Written once by the first caller; a failed load is forgotten so that the next call tries again. */
let loading: Promise<Parser> | undefined;

/**
 * The optimising compiler needs over a second for the lexer of this grammar and stops the event loop meanwhile (measured: 1.2 s after
 * the first parse). The baseline code parses as fast for texts of this size, so only that is made of it; a module keeps what it was
 * compiled with, and others are not affected once the switch is back.
 */
async function withBaselineCode<T>(compile: () => Promise<T>): Promise<T> {
  v8.setFlagsFromString('--liftoff-only');
  try {
    return await compile();
  } finally {
    v8.setFlagsFromString('--no-liftoff-only');
  }
}

async function load(): Promise<Parser> {
  const { Language, Parser } = await import('web-tree-sitter');
  const [engine, grammar] = await Promise.all([
    fs.promises.readFile(wasmPath('web-tree-sitter.wasm')),
    fs.promises.readFile(wasmPath('tree-sitter-bash.wasm')),
  ]);
  return withBaselineCode(async () => {
    await Parser.init({ wasmBinary: engine });
    const parser = new Parser();
    parser.setLanguage(await Language.load(grammar));
    return parser;
  });
}

export function shellGrammar(): Promise<Parser> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}
