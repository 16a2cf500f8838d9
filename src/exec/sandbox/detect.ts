// Finds out, once, which sandbox this machine has and whether it works: a program that is installed may still be refused user
// namespaces by the kernel or by a container around us.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { SEATBELT_PROGRAM } from './seatbelt.ts';

export type SandboxKind =
  | { readonly type: 'bubblewrap'; readonly program: string }
  | { readonly type: 'seatbelt' }
  | { readonly type: 'none'; readonly reason: string };

const BUBBLEWRAP_PLACES = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap', '/run/current-system/sw/bin/bwrap'];
const PROBE = [
  '--unshare-user',
  '--unshare-pid',
  '--unshare-ipc',
  '--unshare-net',
  '--die-with-parent',
  '--ro-bind',
  '/',
  '/',
  '--dev',
  '/dev',
  '--proc',
  '/proc',
];

/** Runs `true` in it. Gives what went wrong, or undefined. */
function probe(program: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, [...PROBE, '--', 'true'], { timeout: 10_000 }, (error, _stdout, stderr) => {
      resolve(error === null ? undefined : stderr.trim().split('\n')[0] || error.message);
    });
  });
}

/** Looked up by fixed paths, not by PATH: the daemon's PATH may lead into a workspace. */
export async function detectSandbox(
  platform: NodeJS.Platform = process.platform,
  places: readonly string[] = BUBBLEWRAP_PLACES,
): Promise<SandboxKind> {
  if (platform === 'darwin') {
    return fs.existsSync(SEATBELT_PROGRAM) ? { type: 'seatbelt' } : { type: 'none', reason: `${SEATBELT_PROGRAM} is missing` };
  }
  if (platform !== 'linux') return { type: 'none', reason: `there is no sandbox for ${platform}` };
  const program = places.find((p) => fs.existsSync(p));
  if (program === undefined) return { type: 'none', reason: 'bubblewrap (bwrap) is not installed' };
  const failure = await probe(program);
  return failure === undefined ? { type: 'bubblewrap', program } : { type: 'none', reason: `bubblewrap does not work here: ${failure}` };
}
