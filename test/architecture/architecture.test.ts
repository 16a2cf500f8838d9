// The shape of the sources as a test: layers, cycles, size, and who may touch what. First the rules on made-up trees, then on ours.
import { describe, expect, it } from 'vitest';
import { bannedWords, cycles, layerViolations, longFiles, oddNames, ownedPackages } from './rules.ts';
import { importsOf, readTree } from './source-tree.ts';

const tree = (files: Record<string, string>) => new Map(Object.entries(files));

describe('the rules', () => {
  it('[architecture.imports] sees static, type-only, re-exported, bare and dynamic imports, not those in comments', () => {
    const text = [
      "import fs from 'node:fs';",
      "import type {\n  A,\n  B,\n} from './a.ts';",
      "export { c } from '../common/c.ts';",
      "import './d.ts';",
      "const e = await import('./e.ts');",
      "// import f from './f.ts';",
      "/* import g from './g.ts'; */",
      "const address = 'https://example.test/import';",
    ].join('\n');
    expect(importsOf('src/tools/x.ts', text).sort()).toEqual(
      ['node:fs', 'src/common/c.ts', 'src/tools/a.ts', 'src/tools/d.ts', 'src/tools/e.ts'].sort(),
    );
  });

  it('[architecture.layers.rule] names an upward import, one between neighbours, and a folder without a layer', () => {
    const made = tree({
      'src/common/a.ts': "import { b } from '../tools/b.ts';",
      'src/tools/b.ts': "import { a } from '../common/a.ts';",
      'src/exec/c.ts': "import type { d } from '../model/d.ts';",
      'src/model/d.ts': "export * from './d.ts';",
      'src/odd/e.ts': '',
      'src/main.ts': "import { f } from './cli/f.ts';",
      'src/cli/f.ts': "import { b } from '../tools/b.ts';",
    });
    expect(layerViolations(made)).toEqual([
      'src/common/a.ts: src/common must not import src/tools (src/tools/b.ts)',
      'src/exec/c.ts: src/exec must not import src/model (src/model/d.ts)',
      'src/odd/e.ts: src/odd is in no layer',
    ]);
  });

  it('[architecture.cycles.rule] names each cycle once, type-only ones as well', () => {
    const made = tree({
      'src/a.ts': "import './b.ts';",
      'src/b.ts': "import type { c } from './c.ts';",
      'src/c.ts': "import './b.ts';\nimport './a.ts';",
      'src/d.ts': "import './a.ts';",
    });
    expect(cycles(made)).toEqual(['src/a.ts → src/b.ts → src/c.ts → src/a.ts', 'src/b.ts → src/c.ts → src/b.ts']);
  });

  it('[architecture.bans.rule] names console, stdout, suppressions, any and a package in the wrong file', () => {
    const made = tree({
      'src/a.ts': 'console.log(1);',
      'src/b.ts': 'process.stdout.write("x");',
      'src/c.ts': '// @ts-ignore\nconst x: any = 1;',
      'src/d.ts': '// console.log is bound to stderr; as any reader knows\nconst many = 1;',
      'src/server/transport.ts': 'process.stdout.write("x");',
      'src/e.ts': "const pty = await import('node-pty');",
      'src/exec/pty.ts': "import type { IPty } from 'node-pty';",
    });
    expect(bannedWords(made)).toEqual([
      'src/a.ts: writes to the console; use the logger',
      'src/b.ts: touches stdout, which carries the protocol',
      'src/c.ts: switches a rule off; change the code instead',
      'src/c.ts: uses any',
    ]);
    expect(ownedPackages(made)).toEqual(['src/e.ts: node-pty is imported by src/exec/pty.ts only']);
  });

  it('[architecture.size.rule] counts lines without the last line end, and wants kebab-case names', () => {
    const made = tree({ 'src/fits.ts': 'x\n'.repeat(400), 'src/tooLong.ts': 'x\n'.repeat(401) });
    expect(longFiles(made)).toEqual(['src/tooLong.ts: 401 lines, at most 400']);
    expect(oddNames(made)).toEqual(['src/tooLong.ts: file names are kebab-case']);
  });
});

describe('the sources', () => {
  const sources = readTree('src');
  const all = readTree('src', 'test');

  it('[architecture.layers] imports point down', () => {
    expect(layerViolations(sources)).toEqual([]);
  });
  it('[architecture.cycles] no files import each other in a circle', () => {
    expect(cycles(sources)).toEqual([]);
  });
  it('[architecture.size] no file is longer than 400 lines', () => {
    expect(longFiles(all)).toEqual([]);
  });
  it('[architecture.names] files are named in kebab-case', () => {
    expect(oddNames(all)).toEqual([]);
  });
  it('[architecture.bans] console, stdout, suppressions and any stay out', () => {
    expect(bannedWords(sources)).toEqual([]);
  });
  it('[architecture.owned-packages] a package with one owner is imported there only', () => {
    expect(ownedPackages(sources)).toEqual([]);
  });
});
