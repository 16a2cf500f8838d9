// One row of a method table: the shapes of a method, what it is about, and who may use it.
import * as z from 'zod';
import { type Schema, schema } from './schema.ts';

/** What a method is about: the connection itself, one thread (its params name it), or the whole process. */
export type Scope = 'connection' | 'thread' | 'process';
export type Stability = 'stable' | 'experimental';

export interface RequestSpec<P extends Schema = Schema, R extends Schema = Schema> {
  readonly params: P;
  readonly result: R;
  readonly scope: Scope;
  readonly stability: Stability;
  /** Params that a client may set only after asking for `experimentalApi`. */
  readonly experimentalFields: readonly string[];
}
export interface NotificationSpec<P extends Schema = Schema> {
  readonly params: P;
  readonly scope: Scope;
}

export interface RequestOptions {
  scope: Scope;
  stability?: Stability;
  /** Names of experimental fields, separated by blanks. */
  experimental?: string;
}

export function request<P extends Schema, R extends Schema>(params: P, result: R, options: RequestOptions): RequestSpec<P, R> {
  return {
    params,
    result,
    scope: options.scope,
    stability: options.stability ?? 'stable',
    experimentalFields: options.experimental?.split(' ') ?? [],
  };
}

export function notification<P extends Schema>(params: P, scope: Scope): NotificationSpec<P> {
  return { params, scope };
}

/** For methods whose params are all optional or absent. */
export const None = schema(() => z.object({}));
