// Which thread a client means when it names a record instead of an id, and items that a client brings along.
import fs from 'node:fs/promises';
import path from 'node:path';
import { invalidParams, invalidRequest } from '../../common/errors.ts';
import { type ResponseItem, readResponseItem } from '../../protocol/response-item.ts';
import type { ThreadStore } from '../../session/thread-store.ts';

const ID_IN_NAME = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/i;

/**
 * The id of the thread whose record lies at `params.path`, or `params.threadId` where none is given: a path wins. Only records of this
 * home are threads; rejects with −32600 for any other file, which nothing of is read.
 */
export async function namedThread(store: ThreadStore, params: { threadId: string; path?: string | null | undefined }): Promise<string> {
  if (!params.path) return params.threadId;
  const real = (file: string) => fs.realpath(file).catch(() => path.resolve(file));
  const id = ID_IN_NAME.exec(params.path)?.[1];
  const stored = id === undefined ? null : await store.find(id);
  if (id === undefined || !stored || (await real(stored.file)) !== (await real(params.path)))
    throw invalidRequest(`params.path: no thread of this home is recorded in ${params.path}`);
  return id;
}

/** Checks items from outside one by one; `field` names them in the error. */
export function itemsFrom(items: readonly unknown[], field: string): ResponseItem[] {
  if (items.length === 0) throw invalidParams(`${field}: items must not be empty`);
  return items.map((item, i) => {
    const one = readResponseItem(item);
    if (!one.ok) throw invalidParams(`${field}[${i}]: not a valid response item: ${one.problem}`);
    return one.item;
  });
}
