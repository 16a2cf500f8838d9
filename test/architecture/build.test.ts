// The build: one start-up part, lazy parts beside it, and a loader that lives with any state of its caches.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from './source-tree.ts';

describe('the build', () => {
  let folder: string;
  let dist: string;
  const node = (args: string[], env: Record<string, string> = {}, cwd = process.cwd()) =>
    spawnSync(process.execPath, args, { cwd, encoding: 'utf8', env: { ...process.env, ...env } });
  const run = (...args: string[]) => {
    const { stdout, stderr, status } = node([path.join(dist, 'main.js'), ...args]);
    return { stdout, stderr, status };
  };

  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'harnessd-build-'));
    dist = path.join(folder, 'dist');
    const entry = path.join(import.meta.dirname, 'fixtures', 'entry.ts');
    const built = node([path.join(ROOT, 'scripts', 'build.mjs'), '--entry', entry, '--out', dist, '--no-warm-up', '--quiet']);
    expect({ stdout: built.stdout, stderr: built.stderr, status: built.status }).toEqual({ stdout: '', stderr: '', status: 0 });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const version = () => `harnessd ${JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')).version}\n`;

  it('[build.version] the program runs and knows the version of the package', () => {
    expect(run('--')).toEqual({ stdout: version(), stderr: '', status: 0 });
  });

  it('[build.lazy] a lazy part and a CommonJS package load on demand and share modules with the start-up part', () => {
    expect(run('lazy')).toEqual({ stdout: 'one shared object function true\n', stderr: '', status: 0 });
  });

  it('[build.symlink] it runs through a link, as npm installs it', () => {
    const link = path.join(folder, 'harnessd');
    symlinkSync(path.join(dist, 'main.js'), link);
    expect(node([link]).stdout).toBe(version());
    expect(spawnSync(link, { encoding: 'utf8' }).stdout).toBe(version());
  });

  it('[build.files] holds a cache and a map for each part, both grammars, and no folder of the build machine', () => {
    const files = readdirSync(path.join(dist, 'lib'));
    const parts = files.filter((name) => name.endsWith('.cjs'));
    expect(files.filter((name) => name.endsWith('.wasm')).sort()).toEqual(['tree-sitter-bash.wasm', 'web-tree-sitter.wasm']);
    expect(parts.filter((name) => !files.includes(`${name}.cache`) || !files.includes(`${name}.map`))).toEqual([]);
    const leaks = files.filter((name) => readFileSync(path.join(dist, 'lib', name), 'latin1').includes(ROOT));
    expect(leaks).toEqual([]);
  });

  it('[build.caches-taken] V8 takes the caches, of the start and of what comes later', () => {
    const seen = node(
      [
        '-e',
        `const { readdirSync, readFileSync } = require('node:fs');
      for (const name of readdirSync('.').filter((file) => file.endsWith('.cjs'))) {
        const cachedData = readFileSync(name + '.cache');
        const script = new (require('node:vm').Script)(readFileSync(name, 'latin1'), { filename: 'harnessd/' + name, cachedData });
        console.log(name, script.cachedDataRejected);
      }`,
      ],
      {},
      path.join(dist, 'lib'),
    );
    expect(seen.stdout).toMatch(/^main\.cjs false$/m);
    expect(seen.stdout).not.toContain('true');
  });

  it('[build.caches] missing, cut and foreign caches are ignored', () => {
    const original = dist;
    dist = path.join(folder, 'copy');
    cpSync(original, dist, { recursive: true });
    const cache = path.join(dist, 'lib', 'main.cjs.cache');
    truncateSync(cache, 100);
    expect(run('--')).toEqual({ stdout: version(), stderr: '', status: 0 });
    writeFileSync(cache, 'no cache at all');
    expect(run('--')).toEqual({ stdout: version(), stderr: '', status: 0 });
    copyFileSync(path.join(dist, 'lib', 'web-tree-sitter.wasm'), cache);
    expect(run('--')).toEqual({ stdout: version(), stderr: '', status: 0 });
    rmSync(cache);
    expect(run('--')).toEqual({ stdout: version(), stderr: '', status: 0 });
    dist = original;
  });

  it('[build.source-maps] stack frames name the sources when asked for', () => {
    const mapped = node([path.join(dist, 'main.js'), 'fail'], { HARNESSD_SOURCE_MAPS: '1' });
    expect(mapped.stderr).toMatch(/main \(test\/architecture\/fixtures\/entry\.ts:16:\d+\)/);
    expect(run('fail').stderr).toMatch(/main \(harnessd\/main\.cjs:\d+:\d+\)/);
  });
});
