// hooks.json beside a config.toml: `{ "hooks": { "PreToolUse": [ … ] } }`, the same form as the tables. Read, never written.
import { readFile } from 'node:fs/promises';
import { messageOf, systemCode } from '../common/errors.ts';
import { preview } from '../common/text.ts';

export const HOOKS_FILE = 'hooks.json';

export type HooksFile = { type: 'absent' } | { type: 'read'; table: unknown } | { type: 'broken'; message: string };

/** Never rejects: what cannot be read is told as broken. */
export async function readHooksFile(path: string): Promise<HooksFile> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const code = systemCode(error);
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { type: 'absent' }
      : { type: 'broken', message: `it cannot be read (${code ?? messageOf(error)})` };
  }
  try {
    const value: unknown = JSON.parse(text);
    const table = typeof value === 'object' && value !== null && 'hooks' in value ? value.hooks : undefined;
    if (table === undefined) return { type: 'broken', message: 'expected an object with a member "hooks"; none of its hooks run' };
    return { type: 'read', table };
  } catch (error) {
    return { type: 'broken', message: `it is not JSON, so none of its hooks run: ${preview(messageOf(error), 160)}` };
  }
}
