// What the generate commands write is usable as it is: the schemas are those of the repository, the types compile.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGenerate } from '../../src/cli/generate.ts';
import { schemaFiles } from '../../src/cli/json-schemas.ts';

const tsc = path.resolve(import.meta.dirname, '../../node_modules/typescript/bin/tsc');
const run = promisify(execFile);

/** A frontend's code against the generated types: right uses, and wrong ones that must not compile. */
const USE = `
import type { ClientRequest, ClientRequests, ServerNotification, ServerRequest, Turn } from './out/index.js';
export const start: ClientRequest = { id: 1, method: 'turn/start', params: { threadId: 't', input: [{ type: 'text', text: 'hi' }] } };
export const none: ClientRequest = { id: '2', method: 'account/rateLimits/read' };
// @ts-expect-error a field is missing
export const bad: ClientRequest = { id: 1, method: 'turn/interrupt', params: { threadId: 't' } };
// @ts-expect-error there is no such method
export type Unknown = ClientRequests['turn/dance'];
export const statusOf = (turn: Turn): 'completed' | 'interrupted' | 'failed' | 'inProgress' => turn.status;
export function show(message: ServerNotification): string {
  return message.method === 'item/agentMessage/delta' ? message.params.delta : message.method;
}
export const asks = (request: ServerRequest): boolean => request.method === 'item/commandExecution/requestApproval' && request.params.turnId !== '';
`;

describe('generate', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'harnessd-generate-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('[generate.json-schema] writes the files of schema/ into a new folder', async () => {
    const out = path.join(folder, 'deep', 'schemas');
    await runGenerate('json-schema', out);
    const written = new Map<string, string>();
    for (const name of await readdir(out)) written.set(name, await readFile(path.join(out, name), 'utf8'));
    expect(written).toEqual(new Map([...schemaFiles()].sort()));
  });

  it('[generate.ts] writes types that compile and tell right messages from wrong ones', async () => {
    await runGenerate('ts', path.join(folder, 'out'));
    await writeFile(path.join(folder, 'use.ts'), USE);
    await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--types', '', 'use.ts', 'out/index.ts'];
    const outcome = await run(process.execPath, [tsc, ...flags], { cwd: folder }).catch((error: { stdout: string }) => error);
    expect(outcome.stdout).toBe('');
  });
});
