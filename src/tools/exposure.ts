// Who is offered what: the surfaces of each exposure, and what is kept from some threads and some models. Pure.
import type { Audience, Exposure, ToolRuntime } from './runtime.ts';

/** What a thread is, as far as its tools depend on it. A guardian reviews the calls of another thread. */
export type Identity = { type: 'root' } | { type: 'subAgent'; depth: number } | { type: 'guardian' };

export const ROOT: Identity = { type: 'root' };

export const isListed = (exposure: Exposure): boolean => exposure === 'direct' || exposure === 'directModelOnly';
export const isDeferred = (exposure: Exposure): boolean => exposure === 'deferred' || exposure === 'deferredModelOnly';
/** Callable from code that the model writes: listed or not makes no difference there. */
export const isInCode = (exposure: Exposure): boolean => exposure === 'direct' || exposure === 'deferred' || exposure === 'codeModeOnly';

function isMeantFor(audience: Audience, identity: Identity, maxDepth: number): boolean {
  switch (audience) {
    case 'worker':
      return identity.type !== 'guardian';
    case 'reviewer':
      return true;
    case 'root':
      return identity.type === 'root';
    case 'spawner':
      return identity.type !== 'guardian' && (identity.type === 'root' ? 0 : identity.depth) < maxDepth;
  }
}

export interface Trimming {
  identity: Identity;
  /** Sub-agents may stand this many levels below the root. */
  maxDepth: number;
  images: boolean;
}

/** Whether a tool is registered at all in such a thread, on such a model. */
export const isOfferedTo = (tool: Pick<ToolRuntime, 'audience' | 'requires'>, { identity, maxDepth, images }: Trimming): boolean =>
  isMeantFor(tool.audience ?? 'worker', identity, maxDepth) && (tool.requires !== 'images' || images);
