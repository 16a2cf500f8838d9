// What is checked before a spawn, so that a refusal names the folder or the program instead of an error number.
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, resolve } from 'node:path';
import { systemCode } from '../common/errors.ts';
import { preview } from '../common/text.ts';
import type { ChildSpec } from './child.ts';
import { StartError } from './child.ts';
import type { ProcessRequest } from './process.ts';

/** Resolves argv[0] and the folder. Rejects with a StartError whose text the model can act on. */
export async function prepareLaunch(request: ProcessRequest, mark: Readonly<Record<string, string>>): Promise<ChildSpec> {
  const { argv, cwd, env } = request;
  if (argv.length === 0 || argv[0] === '') throw new StartError('no command was given: the first element of argv must name a program');
  const bad = argv.findIndex((word) => word.includes('\0'));
  if (bad >= 0)
    throw new StartError(
      `argument ${bad} holds a NUL byte, which no command line can carry: ${preview(argv[bad].replaceAll('\0', '\\0'), 80)}`,
    );
  for (const [name, value] of Object.entries(env)) {
    if (name === '' || name.includes('=') || name.includes('\0') || value.includes('\0')) {
      throw new StartError(
        `the environment variable ${JSON.stringify(name)} cannot be passed on: its name or value holds "=" or a NUL byte where none may be`,
      );
    }
  }
  const program = findProgram(argv[0], cwd, env.PATH ?? '');
  program.catch(() => {}); // a missing folder is named first
  await checkFolder(cwd);
  return { file: await program, argv, cwd, env: { ...env, PWD: cwd, ...mark } };
}

async function checkFolder(cwd: string): Promise<void> {
  if (cwd.includes('\0') || !isAbsolute(cwd))
    throw new StartError(`the working directory must be an absolute path: ${JSON.stringify(cwd)}`);
  try {
    if (!(await stat(cwd)).isDirectory()) throw new StartError(`the working directory is not a folder: ${cwd}`);
    await access(cwd, constants.X_OK);
  } catch (error) {
    if (error instanceof StartError) throw error;
    switch (systemCode(error)) {
      case 'ENOENT':
      case 'ENOTDIR':
        throw new StartError(`the working directory does not exist: ${cwd}; create it first or choose another`);
      default:
        throw new StartError(`the working directory cannot be entered: ${cwd} (${systemCode(error)})`);
    }
  }
}

async function findProgram(name: string, cwd: string, path: string): Promise<string> {
  const candidates = name.includes('/') ? [resolve(cwd, name)] : path.split(delimiter).map((folder) => resolve(cwd, folder, name));
  let denied: string | undefined;
  for (const candidate of candidates) {
    const found = await kindOf(candidate);
    if (found === 'program') return candidate;
    if (found === 'denied') denied ??= candidate;
  }
  if (denied) throw new StartError(`${denied} is not an executable file; run it through its interpreter or make it executable`);
  throw new StartError(name.includes('/') ? `program not found: ${name}` : `program not found: ${name} is in none of the folders of PATH`);
}

async function kindOf(path: string): Promise<'program' | 'denied' | 'missing'> {
  try {
    if (!(await stat(path)).isFile()) return 'denied';
  } catch (error) {
    return systemCode(error) === 'EACCES' ? 'denied' : 'missing';
  }
  return access(path, constants.X_OK).then(
    () => 'program',
    () => 'denied',
  );
}
