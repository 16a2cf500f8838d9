// System errors in plain words, the same for every platform and without the library's own phrasing.
import { messageOf, systemCode } from '../common/errors.ts';

const WORDS: Record<string, string> = {
  ENOENT: 'No such file or directory',
  ENOTDIR: 'A part of the path is a file, not a folder',
  EISDIR: 'It is a folder',
  EACCES: 'Permission denied',
  EPERM: 'Operation not permitted',
  EROFS: 'Read-only file system',
  ENOSPC: 'No space left on device',
  EDQUOT: 'Disk quota exceeded',
  ENAMETOOLONG: 'The name is too long',
  ELOOP: 'Too many symbolic links',
  EEXIST: 'It exists already',
  EBUSY: 'It is in use',
  ETXTBSY: 'It is being executed',
};

export function reasonOf(error: unknown): string {
  const code = systemCode(error);
  const words = code === undefined ? undefined : WORDS[code];
  return words === undefined ? messageOf(error) : `${words} (${code})`;
}
