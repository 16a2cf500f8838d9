// Every wire type by name, for generators only. Nothing on the path of a request imports this: it would build all schemas at once.
import * as account from './account.ts';
import * as approval from './approval.ts';
import * as catalog from './catalog.ts';
import * as config from './config.ts';
import * as diagnostics from './diagnostics.ts';
import * as exec from './exec.ts';
import * as fs from './fs.ts';
import * as hook from './hook.ts';
import * as initialize from './initialize.ts';
import * as item from './item.ts';
import * as mcp from './mcp.ts';
import * as primitives from './primitives.ts';
import * as review from './review.ts';
import type { Schema } from './schema.ts';
import * as thread from './thread.ts';
import * as threadHistory from './thread-history.ts';
import * as threadLifecycle from './thread-lifecycle.ts';
import * as threadQueueGoal from './thread-queue-goal.ts';
import * as turn from './turn.ts';

const MODULES: Record<string, unknown>[] = [
  account,
  approval,
  catalog,
  config,
  diagnostics,
  exec,
  fs,
  hook,
  initialize,
  item,
  mcp,
  primitives,
  review,
  thread,
  threadHistory,
  threadLifecycle,
  threadQueueGoal,
  turn,
];

/** By the grammar of names, what a protocol module exports under a capital letter as a function is a schema. */
const isSchema = (name: string, value: unknown): value is Schema => /^[A-Z]/.test(name) && typeof value === 'function';

/** Sorted by name. Two modules that declare the same name are a mistake here, as the name is the file name of the generated schema. */
export function allSchemas(): Map<string, Schema> {
  const found = new Map<string, Schema>();
  for (const [name, value] of MODULES.flatMap((module) => Object.entries(module))) {
    if (!isSchema(name, value)) continue;
    if (found.has(name)) throw new Error(`two protocol modules declare the type ${name}`);
    found.set(name, value);
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}
