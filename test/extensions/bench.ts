// A daemon with extensions whose modules a test writes, and a script for the model.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { type Reply, TestFrontend } from '../spine/client.ts';

/** An import line for modules that lie outside of this project. */
export const IMPORT_ZOD = `import * as z from ${JSON.stringify(pathToFileURL(path.resolve('node_modules/zod/index.js')).href)};`;

export interface ExtensionBenchOptions {
  /** File name → source. Names with a leading underscore are written and not configured. */
  modules: Record<string, string>;
  script?: Reply[];
  config?: string;
}

export class ExtensionBench extends TestFrontend {
  notices(): string[] {
    return this.all('configWarning')
      .map(({ summary }) => summary)
      .filter((summary) => summary.startsWith('Extension'));
  }

  /** What the model read of a call, from the record of the thread. */
  async read(callId: string): Promise<string> {
    const { thread } = await this.result('thread/read', { threadId: this.threadId });
    const lines = fs.readFileSync(thread.path, 'utf8').split('\n').filter(Boolean);
    const output = lines.map((line) => JSON.parse(line)).find(({ item }) => item?.call_id === callId && item.type.endsWith('_output'))
      ?.item.output;
    return typeof output === 'string' ? output : output.map((part: { text?: string }) => part.text ?? '[image]').join('');
  }

  file(name: string): string {
    return path.join(this.cwd, name);
  }

  module(name: string): string {
    return path.join(this.home, name);
  }
}

export function extensionBench({ modules, script, config = '' }: ExtensionBenchOptions): ExtensionBench {
  const names = Object.keys(modules).filter((name) => !name.startsWith('_'));
  const list = JSON.stringify(names.map((name) => `./${name}`));
  const bench = new ExtensionBench({ script, config: `extensions = ${list}\n${config}` });
  for (const [name, source] of Object.entries(modules)) fs.writeFileSync(bench.module(name), source);
  onTestFinished(() => bench.dispose());
  return bench;
}
