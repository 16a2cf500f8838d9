// The manifest in test/behaviours and the tests name the same behaviours.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './source-tree.ts';

it('[architecture.behaviours] every listed behaviour has a test and every cited one is listed; `npm run behaviours` adds new ones', () => {
  const { stdout, status } = spawnSync(process.execPath, [path.join(ROOT, 'scripts', 'behaviours.mjs'), '--check'], { encoding: 'utf8' });
  expect({ lines: stdout.split('\n').filter(Boolean), status }).toEqual({ lines: [], status: 0 });
});
