// What a client asks of the list of threads, and how a thread answers: the same rules for loaded threads, stored ones and the index.
import type { SessionSource } from '../protocol/thread.ts';
import type { ThreadSourceKind } from '../protocol/thread-history.ts';

export type SortKey = 'createdAt' | 'updatedAt';

/** The place of a thread in a list: times are whole seconds, ids break ties by their own time. */
export interface Position {
  at: number;
  id: string;
}

export interface ThreadQuery {
  archived: boolean;
  sortKey: SortKey;
  descending: boolean;
  /** The page begins behind this place. */
  after: Position | null;
  limit: number;
  /** Null: not asked for. */
  cwds: readonly string[] | null;
  providers: readonly string[] | null;
  kinds: readonly ThreadSourceKind[] | null;
  originators: readonly string[] | null;
  parentThreadId: string | null;
  included: readonly string[] | null;
  excluded: readonly string[] | null;
  /** In the preview or the name, whatever the case. */
  term: string | null;
}

export interface Listed {
  id: string;
  createdAt: number;
  updatedAt: number;
  cwd: string;
  modelProvider: string;
  source: SessionSource;
  originator: string | null;
  parentThreadId: string | null;
  preview: string;
  name: string | null;
}

export function sourceKindOf(source: SessionSource): ThreadSourceKind {
  if (typeof source === 'string') return source;
  if ('custom' in source) return 'unknown';
  const { subAgent } = source;
  if (subAgent === 'review') return 'subAgentReview';
  if (subAgent === 'compact') return 'subAgentCompact';
  return typeof subAgent === 'object' && 'thread_spawn' in subAgent ? 'subAgentThreadSpawn' : 'subAgentOther';
}

/** What a list shows when it is not asked for certain kinds: threads that a person talks in. */
export const isInteractive = (kind: ThreadSourceKind): boolean => !kind.startsWith('subAgent');

/** The text that a search term is looked for in. */
export const searchable = (thread: { preview: string; name: string | null }): string =>
  `${thread.preview}\n${thread.name ?? ''}`.toLowerCase();

const allows = (wanted: readonly string[] | null, value: string): boolean => wanted === null || wanted.includes(value);

export function matchesQuery(thread: Listed, query: ThreadQuery): boolean {
  const kind = sourceKindOf(thread.source);
  if (query.kinds ? !query.kinds.includes(kind) : !isInteractive(kind)) return false;
  return (
    allows(query.cwds, thread.cwd) &&
    allows(query.providers, thread.modelProvider) &&
    allows(query.originators, thread.originator ?? '') &&
    allows(query.included, thread.id) &&
    !query.excluded?.includes(thread.id) &&
    (query.parentThreadId === null || thread.parentThreadId === query.parentThreadId) &&
    (query.term === null || searchable(thread).includes(query.term.toLowerCase()))
  );
}

export const positionOf = (thread: Listed, sortKey: SortKey): Position => ({ at: thread[sortKey], id: thread.id });

/** Negative when `a` comes first. */
export function comparePositions(a: Position, b: Position, descending: boolean): number {
  const order = a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
  return descending ? -order : order;
}

/** The threads of `found` that the page holds, in order, and whether more follow. */
export function pageOfThreads<T extends Listed>(found: readonly T[], query: ThreadQuery): { page: T[]; more: boolean } {
  const { after, sortKey, descending, limit } = query;
  const behind = found.filter((thread) => !after || comparePositions(positionOf(thread, sortKey), after, descending) > 0);
  behind.sort((a, b) => comparePositions(positionOf(a, sortKey), positionOf(b, sortKey), descending));
  return { page: behind.slice(0, limit), more: behind.length > limit };
}
