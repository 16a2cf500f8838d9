// The API key that a client handed over, in the home's auth.json. Only its owner may read the file; no text ever holds the key.
import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { messageOf, RpcError, systemCode } from '../common/errors.ts';
import { ensureHome } from '../config/home.ts';

const AUTH_FILE = 'auth.json';
const KEY_FIELD = 'OPENAI_API_KEY';

/** The file's other members stay as they are. Empty for a file that is missing or damaged. */
function readAuth(home: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(path.join(home, AUTH_FILE), 'utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Read anew each time, so that a login counts from the next request on. */
export function storedApiKey(home: string): string | undefined {
  const key = readAuth(home)[KEY_FIELD];
  return typeof key === 'string' && key !== '' ? key : undefined;
}

export const storeApiKey = (home: string, apiKey: string): void => writeAuth(home, { ...readAuth(home), [KEY_FIELD]: apiKey });

/** False when there was none. */
export function forgetApiKey(home: string): boolean {
  const { [KEY_FIELD]: key, ...rest } = readAuth(home);
  if (key === undefined) return false;
  writeAuth(home, rest);
  return true;
}

/** Atomic: the file holds the old or the new content whole, and is never open to others, not even for a moment. */
function writeAuth(home: string, content: Readonly<Record<string, unknown>>): void {
  ensureHome(home);
  const file = path.join(home, AUTH_FILE);
  const temporary = path.join(home, `.${AUTH_FILE}.${process.pid}.${randomUUID()}.tmp`);
  let made = false;
  try {
    const descriptor = openSync(temporary, 'wx', 0o600);
    made = true;
    try {
      chmodSync(temporary, 0o600);
      writeFileSync(descriptor, `${JSON.stringify(content, null, 2)}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, file);
  } catch (error) {
    if (made) rmSync(temporary, { force: true });
    throw new RpcError('internal', `${file} could not be written (${systemCode(error) ?? messageOf(error)})`);
  }
}
