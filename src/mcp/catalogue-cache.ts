// What servers offered last time, on disk by their key: a thread can offer their tools before they are up. A hint only: a server that
// has come up since tells what is true, and a call of a tool that has changed is refused.
import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../common/errors.ts';
import { newRandomId } from '../common/ids.ts';
import { logger } from '../common/log.ts';
import type { Catalogue } from './catalogue.ts';
import type { ServerIdentity } from './client.ts';
import { cleanInstructions, readTool, type ToolDefinition } from './tool-definition.ts';

/** Contract: neither throws. */
export interface CatalogueCache {
  load(key: string): Catalogue | null;
  save(key: string, catalogue: Catalogue): Promise<void>;
}

export const noCache: CatalogueCache = { load: () => null, save: async () => {} };

interface Stored {
  server: ServerIdentity;
  tools: unknown[];
}

const MAX_BYTES = 8 * 1024 * 1024;

const isStored = (value: unknown): value is Stored =>
  typeof value === 'object' && value !== null && 'server' in value && 'tools' in value && Array.isArray(value.tools);

export class CatalogueFiles implements CatalogueCache {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  load(key: string): Catalogue | null {
    try {
      const value: unknown = JSON.parse(readFileSync(this.#file(key), 'utf8'));
      if (!isStored(value)) return null;
      const tools = value.tools.map(readTool).filter((tool): tool is ToolDefinition => tool !== null);
      return { server: value.server, instructions: cleanInstructions(value.server.instructions), tools, problems: [] };
    } catch {
      return null;
    }
  }

  async save(key: string, { server, tools }: Catalogue): Promise<void> {
    const text = JSON.stringify({ server, tools: tools.map(({ raw }) => raw) } satisfies Stored);
    if (text.length > MAX_BYTES) return;
    const temporary = `${this.#file(key)}.${newRandomId()}.tmp`;
    try {
      await mkdir(this.#dir, { recursive: true, mode: 0o700 });
      await writeFile(temporary, text, { mode: 0o600 });
      await rename(temporary, this.#file(key));
    } catch (error) {
      logger().debug({ error: messageOf(error) }, 'what an MCP server offers was not kept');
      await rm(temporary, { force: true }).catch(() => {});
    }
  }

  #file(key: string): string {
    return path.join(this.#dir, `${key}.json`);
  }
}
