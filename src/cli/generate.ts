// `generate-json-schema` and `generate-ts`: writes what the protocol declares into a folder. Loaded on use only.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { schemaFiles } from './json-schemas.ts';
import { typescriptFiles } from './typescript-types.ts';

/** Creates the folder where needed and replaces files of the same names; others in it are left alone. */
export async function runGenerate(kind: 'json-schema' | 'ts', outDir: string): Promise<void> {
  const files = kind === 'ts' ? typescriptFiles() : schemaFiles();
  await mkdir(outDir, { recursive: true });
  for (const [name, text] of files) await writeFile(path.join(outDir, name), text);
}
