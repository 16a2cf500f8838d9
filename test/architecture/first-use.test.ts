// The build moves imports to their first use: the rewriting on small pieces of what esbuild writes.

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { ROOT } from './source-tree.ts';

const load = async (): Promise<{ importOnFirstUse(code: string): string }> =>
  import(pathToFileURL(path.join(ROOT, 'scripts', 'build', 'first-use.mjs')).href);

it('[build.first-use] a variable that is only used with members is fetched when one is', async () => {
  const { importOnFirstUse } = await load();
  const code = [
    'var import_node_fs = require("node:fs");',
    'var import_a = __toESM2(require_a(), 1);',
    'var import_b = (0, import_helpers.__toESM)(require_b(), 1);',
    'var import_helpers = require("./helpers.cjs");',
    'var read = () => (0, import_node_fs.readFileSync)("x");',
    'var made = () => new import_a.default.Thing(1);',
  ];
  expect(importOnFirstUse(code.join('\n')).split('\n')).toEqual([
    'var import_node_fs = onFirstUse(() => require("node:fs"));',
    'var import_a = onFirstUse(() => __toESM2(require_a(), 1));',
    'var import_b = onFirstUse(() => (0, import_helpers().__toESM)(require_b(), 1));',
    'var import_helpers = onFirstUse(() => require("./helpers.cjs"));',
    'var read = () => (0, import_node_fs().readFileSync)("x");',
    'var made = () => new (import_a().default.Thing)(1);',
  ]);
});

it('[build.first-use-whole] a variable that is also used as a whole stays as it is', async () => {
  const { importOnFirstUse } = await load();
  const code = 'var import_a = require("./a.cjs");\n__reExport(entry_exports, import_a);\nimport_a.run();';
  expect(importOnFirstUse(code)).toBe(code);
});

it('[build.first-use-node] packages in TypeScript’s CommonJS form get theirs late as well, unless a name means two things', async () => {
  const { importOnFirstUse } = await load();
  const code = (other: string) => `    var net_1 = __require("net");\n    net_1.connect();\n    ${other}`;
  expect(importOnFirstUse(code(''))).toBe('    var net_1 = onFirstUse(() => __require("net"));\n    net_1().connect();\n    ');
  expect(importOnFirstUse(code('var net_1 = require_other();'))).toBe(code('var net_1 = require_other();'));
});
