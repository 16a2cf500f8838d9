// Whether a command in the sandbox can make the next one reach further.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { call } from '../spine/client.ts';
import { frontend } from './support.ts';

const folders: string[] = [];
const folder = (under: string): string => {
  const made = fs.mkdtempSync(path.join(fs.realpathSync(under), '.harnessd-review-'));
  folders.push(made);
  return made;
};
afterEach(() => {
  for (const made of folders.splice(0)) fs.rmSync(made, { recursive: true, force: true });
});

describe('the folder of a thread', () => {
  it('[review.moved-folder] a command that puts a link in the place of the folder does not widen the sandbox', async () => {
    const outside = folder(os.homedir());
    const scratch = folder('/tmp');
    const cwd = path.join(scratch, 'a', 'b');
    fs.mkdirSync(cwd, { recursive: true });
    const swap = `cd ${scratch} && mv a z && mkdir a && ln -s ${outside} a/b && echo swapped`;
    const t = await frontend({
      script: [
        call('exec_command', { cmd: swap, workdir: scratch }),
        call('exec_command', { cmd: `echo out > ${outside}/escaped; true`, workdir: scratch }),
        { say: 'done' },
      ],
      cwd,
    }).start({ sandbox: 'workspace-write', approvalPolicy: 'never' });
    await t.turn('go');
    expect(t.items('commandExecution')[0].aggregatedOutput).toBe('swapped\n');
    expect(fs.existsSync(path.join(outside, 'escaped'))).toBe(false);
  });
});
