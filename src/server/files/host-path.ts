// Paths of fs/*: absolute ones only, and errors that name the path and say in words what the system said.
import path from 'node:path';
import { invalidParams, messageOf, RpcError, systemCode } from '../../common/errors.ts';
import { reasonOf } from '../../patch/fs-error.ts';

/** Without `.`, `..` and a slash at the end: `link/` is the link, not what it points to. */
export function hostPath(field: string, given: string): string {
  if (!path.isAbsolute(given)) throw invalidParams(`params.${field}: expected an absolute path, got ${JSON.stringify(given)}`);
  if (given.includes('\0')) throw invalidParams(`params.${field}: a path cannot contain a NUL character`);
  return path.resolve(given);
}

const isSystemError = (error: unknown): boolean => systemCode(error) !== undefined && error instanceof Error && 'errno' in error;

/** What the system refuses, as an error that names the path. */
export function pathError(method: string, target: string, error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  return new RpcError('internal', `${method}: ${target}: ${isSystemError(error) ? reasonOf(error) : messageOf(error)}`);
}

export async function onPath<T>(method: string, target: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw pathError(method, target, error);
  }
}
