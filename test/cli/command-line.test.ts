// The command line of the built program: what clients look for in --version, and what ends a start.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PROTOCOL_VERSION } from '../../src/common/version.ts';

const main = path.join(import.meta.dirname, '..', '..', 'dist', 'main.js');

function program(config = '') {
  const home = mkdtempSync(path.join(tmpdir(), 'harnessd-cli-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  writeFileSync(path.join(home, 'config.toml'), config);
  const env = { PATH: process.env['PATH'], HARNESSD_HOME: home, HARNESSD_LOG: 'silent' };
  const input = `${JSON.stringify({ id: 1, method: 'initialize', params: { clientInfo: { name: 'c', version: '1' } } })}\n`;
  return (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { env, input, encoding: 'utf8' });
    return { status, stdout, stderr };
  };
}

describe('the command line', () => {
  it('[cli.version] names the protocol first, as clients compare its version', () => {
    const { status, stdout } = program()('--version');
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^codex-cli \d+\.\d+\.\d+ \(harnessd \d+\.\d+\.\d+\)\n$/)]);
    expect(stdout).toContain(`codex-cli ${PROTOCOL_VERSION} `);
  });

  it.each([
    ['a value of the wrong type', ['-c', 'model=5'], '-c: model must be a string'],
    ['no value', ['-c', 'model'], '-c expects key=value'],
    ['a provider that is none', ['-c', 'model_provider="zz"'], 'model_provider: there is no provider "zz"'],
    ['a profile that is none', ['--profile', 'zz'], 'profile: there is no profile "zz"'],
  ])('[cli.flags] %s ends the start with a reason on stderr', (_, flags, reason) => {
    const run = program();
    for (const args of [
      ['app-server', ...flags],
      [...flags, 'app-server'],
    ]) {
      const { status, stdout, stderr } = run(...args);
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).toContain(`harnessd: ${reason}`);
    }
  });

  it('[cli.broken-file] a broken file does not end the start, with flags or without', () => {
    const run = program('model = [\n');
    for (const flags of [[], ['-c', 'model="x"']]) {
      const { status, stdout } = run('app-server', ...flags);
      expect([status, JSON.parse(stdout.split('\n')[0]).result?.platformFamily]).toEqual([0, 'unix']);
    }
  });
});
