// Logins at remote servers, in one file that only its owner can read. By server address: another address is another login.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { newRandomId } from '../common/ids.ts';

export interface StoredLogin {
  client?: OAuthClientInformationMixed;
  tokens?: OAuthTokens;
}

const FILE = 'mcp-oauth.json';

export class OAuthStore {
  readonly #file: string;

  constructor(home: string) {
    this.#file = path.join(home, FILE);
  }

  get(url: string): StoredLogin | undefined {
    const all = this.#read();
    return Object.hasOwn(all, url) ? all[url] : undefined;
  }

  /** Changes one login; an empty one is removed. The file is put in place whole, readable by its owner only. */
  update(url: string, change: (login: StoredLogin) => StoredLogin): void {
    const all = this.#read();
    const next = change(Object.hasOwn(all, url) ? all[url] : {});
    const rest = Object.entries(all).filter(([known]) => known !== url);
    const entries = next.client || next.tokens ? [...rest, [url, next] as const] : rest;
    const temporary = `${this.#file}.${newRandomId()}.tmp`;
    mkdirSync(path.dirname(this.#file), { recursive: true, mode: 0o700 });
    try {
      writeFileSync(temporary, JSON.stringify(Object.fromEntries(entries)), { mode: 0o600, flag: 'wx' });
      chmodSync(temporary, 0o600);
      renameSync(temporary, this.#file);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  #read(): Record<string, StoredLogin> {
    try {
      const value: unknown = JSON.parse(readFileSync(this.#file, 'utf8'));
      return typeof value === 'object' && value !== null ? (value as Record<string, StoredLogin>) : {};
    } catch {
      return {}; // no file, or one that was damaged: the user logs in again
    }
  }
}
