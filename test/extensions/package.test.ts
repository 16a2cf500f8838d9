// The entry point for authors: what is built, how it is found by its name, and what its types know.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { defineExtension, defineTool, type HookInput, type ToolContext } from '../../src/extension.ts';
import { call } from '../spine/client.ts';
import { extensionBench } from './bench.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');

/** The step of the build that makes them. */
function writeLibraries(folder: string): void {
  const step = pathToFileURL(path.join(ROOT, 'scripts', 'build', 'libraries.mjs')).href;
  const code = `import { writeLibraries } from ${JSON.stringify(step)}; await writeLibraries(...${JSON.stringify([folder, ROOT])});`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
}

describe('harnessd/extension', () => {
  it('[extension.package] is found by its name from an installed package, and gives its types', async () => {
    const t = extensionBench({
      modules: {
        'ext.mjs': `import { defineExtension, defineTool } from 'harnessd/extension';
          const hello = defineTool({ name: 'hello', description: 'Greets.', readOnly: true, run: () => 'hello' });
          export default defineExtension({ name: 'named', tools: [hello] });`,
      },
      script: [{ ...call('hello', {}, 'a'), namespace: 'named' }, { say: 'done' }],
    });
    const installed = path.join(t.home, 'node_modules', 'harnessd');
    mkdirSync(path.join(installed, 'dist'), { recursive: true });
    cpSync(path.join(ROOT, 'package.json'), path.join(installed, 'package.json'));
    writeLibraries(path.join(installed, 'dist'));
    writeFileSync(path.join(installed, 'dist', 'package.json'), '{ "type": "commonjs" }\n'); // as the build does
    await t.start();
    await t.turn('go');
    expect([t.notices(), await t.read('a')]).toEqual([[], 'hello']);
  });

  it('[extension.types] run knows the input of its schema', () => {
    const typed = defineTool({
      name: 'typed',
      description: 'Typed.',
      input: z.object({ n: z.number().default(1), word: z.string().optional() }),
      run: (input, context) => {
        expectTypeOf(input).toEqualTypeOf<{ n: number; word?: string | undefined }>();
        expectTypeOf(context).toEqualTypeOf<ToolContext>();
        return { n: input.n };
      },
    });
    const plain = defineTool({
      name: 'plain',
      description: 'Plain.',
      input: { type: 'object', properties: { a: { type: 'string' } } },
      run: async (input) => {
        expectTypeOf(input).toEqualTypeOf<Readonly<Record<string, unknown>>>();
        return undefined;
      },
    });
    const definition = defineExtension({
      name: 'types',
      tools: [typed, plain],
      hooks: {
        PreToolUse: {
          matcher: '^Bash$',
          failClosed: true,
          run: (input) => (input.tool_name === 'x' ? { decision: 'block', reason: 'r' } : undefined),
        },
        Stop: [
          (input) => {
            expectTypeOf(input).toEqualTypeOf<HookInput>();
            return null;
          },
        ],
      },
      onStart: async () => {},
    });
    expect(definition.tools?.map(({ name }) => name)).toEqual(['typed', 'plain']);
  });
});
