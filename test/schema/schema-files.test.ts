// The committed schema/ folder is what the protocol declares, and its files hold together.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Validator } from '@cfworker/json-schema';
import { describe, expect, it } from 'vitest';
import { jsonSchemas, methodTables, schemaFiles } from '../../src/cli/json-schemas.ts';
import { allSchemas } from '../../src/protocol/all.ts';
import { clientNotifications, clientRequests, serverNotifications, serverRequests } from '../../src/protocol/methods.ts';

const folder = path.resolve(import.meta.dirname, '../../schema');

function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === '$ref' && typeof inner === 'string' ? [inner] : references(inner)));
}

describe('schema files', () => {
  it('[schema.drift] schema/ holds exactly what src/protocol declares; when this fails run `npm run schema`', async () => {
    const wanted = schemaFiles();
    const drift: string[] = [];
    for (const name of new Set([...wanted.keys(), ...(await readdir(folder))])) {
      const text = await readFile(path.join(folder, name), 'utf8').catch(() => undefined);
      if (text !== wanted.get(name)) drift.push(name);
    }
    expect(drift).toEqual([]);
  });

  it('[schema.deterministic] two runs give the same bytes in the same order', () => {
    expect([...schemaFiles()]).toEqual([...schemaFiles()]);
  });

  it('[schema.references] every reference names a file of the folder, and in the bundle a definition', () => {
    const files = schemaFiles();
    const broken: string[] = [];
    for (const [name, node] of jsonSchemas()) {
      for (const ref of references(node)) if (!files.has(ref)) broken.push(`${name}: ${ref}`);
    }
    const bundle: { $defs: Record<string, unknown> } = JSON.parse(files.get('bundle.json') ?? '{}');
    for (const ref of references(bundle)) if (!(ref.replace('#/$defs/', '') in bundle.$defs)) broken.push(`bundle: ${ref}`);
    expect(broken).toEqual([]);
    expect(Object.keys(bundle.$defs)).toEqual([...allSchemas().keys()]);
  });

  it('[schema.methods] the table lists every method once, sorted, with named types', () => {
    const tables = methodTables();
    const methods = (rows: { method: string }[]) => rows.map((row) => row.method);
    expect(methods(tables.clientRequests)).toEqual(Object.keys(clientRequests).sort());
    expect(methods(tables.serverRequests)).toEqual(Object.keys(serverRequests).sort());
    expect(methods(tables.serverNotifications)).toEqual(Object.keys(serverNotifications).sort());
    expect(methods(tables.clientNotifications)).toEqual(Object.keys(clientNotifications).sort());
    expect(tables.clientRequests.find((row) => row.method === 'turn/interrupt')).toEqual({
      method: 'turn/interrupt',
      params: 'TurnInterruptParams',
      result: 'TurnInterruptResponse',
      scope: 'thread',
      stability: 'stable',
      experimentalFields: [],
    });
  });

  it('[schema.experimental] every experimental field is a field of its params', () => {
    const schemas = jsonSchemas();
    const unknown: string[] = [];
    for (const row of methodTables().clientRequests) {
      const properties = Object.keys(schemas.get(row.params ?? '')?.properties ?? {});
      for (const field of row.experimentalFields) if (!properties.includes(field)) unknown.push(`${row.method}: ${field}`);
    }
    expect(unknown).toEqual([]);
  });

  it('[schema.agrees] the bundle accepts and refuses as the declarations do', () => {
    const bundle: object = JSON.parse(schemaFiles().get('bundle.json') ?? '{}');
    const accepts = (type: string, value: unknown) => new Validator({ ...bundle, $ref: `#/$defs/${type}` }).validate(value).valid;
    const cases: [string, unknown][] = [
      ['TurnInterruptParams', { threadId: 'a', turnId: 'b' }],
      ['TurnInterruptParams', { threadId: 'a' }],
      ['TurnStartParams', { threadId: 'a', input: [{ type: 'text', text: 'x' }] }],
      ['TurnStartParams', { threadId: 'a', input: [{ type: 'text' }] }],
      ['TurnStartParams', { threadId: 'a', input: [], effort: null }],
      ['InitializeParams', { clientInfo: { name: 'n', version: '1' } }],
      ['InitializeParams', { clientInfo: { name: 'n' } }],
    ];
    const zod = (type: string, value: unknown) => allSchemas().get(type)?.().safeParse(value).success;
    expect(cases.map(([type, value]) => accepts(type, value))).toEqual(cases.map(([type, value]) => zod(type, value)));
    expect(cases.map(([type, value]) => accepts(type, value))).toEqual([true, false, true, false, true, true, false]);
  });
});
