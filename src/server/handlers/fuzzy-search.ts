// fuzzyFileSearch: files by a few letters of their path, once or in a session that follows what the user types.
import { invalidParams } from '../../common/errors.ts';
import type { ClientSession } from '../client-session.ts';
import type { GitPorts } from '../fuzzy/git-paths.ts';
import type { Listing } from '../fuzzy/listing.ts';
import { MAX_PATHS } from '../fuzzy/path-list.ts';
import { Searches } from '../fuzzy/searches.ts';
import { SearchSessions } from '../fuzzy/sessions.ts';
import type { HandlersFor } from '../handler.ts';

const MAX_QUERY = 1_024;
const MAX_ROOTS = 64;

type Methods = 'fuzzyFileSearch' | 'fuzzyFileSearch/sessionStart' | 'fuzzyFileSearch/sessionUpdate' | 'fuzzyFileSearch/sessionStop';

export interface FuzzySearchHandlers {
  handlers: HandlersFor<Methods>;
  /** Ends the searches of one client; for when it leaves. */
  endClient(client: ClientSession): void;
  endAll(): void;
}

function checkQuery(query: string): void {
  if (query.length > MAX_QUERY) throw invalidParams(`params.query: expected at most ${MAX_QUERY} characters, got ${query.length}`);
}

function checkRoots(roots: readonly string[]): void {
  if (roots.length > MAX_ROOTS) throw invalidParams(`params.roots: expected at most ${MAX_ROOTS} roots, got ${roots.length}`);
}

/** Tells a client once for each root that not all of it was searched. */
function cutTeller(): (client: ClientSession, listing: Listing) => void {
  const told = new WeakMap<ClientSession, Set<string>>();
  return (client, { lists }) => {
    const roots = told.get(client) ?? new Set<string>();
    told.set(client, roots);
    for (const { root, cut } of lists) {
      if (!cut || roots.has(root)) continue;
      roots.add(root);
      const message = `The file search in ${root} looks at ${MAX_PATHS} paths at most and leaves the others out. Search in a folder below it to find more.`;
      client.notify('warning', { threadId: null, message });
    }
  };
}

export function fuzzySearchHandlers(ports: GitPorts): FuzzySearchHandlers {
  const onCut = cutTeller();
  const searches = new Searches(ports, onCut);
  const sessions = new SearchSessions(ports, onCut);
  const handlers: HandlersFor<Methods> = {
    fuzzyFileSearch: async (params, { client, signal }) => {
      checkQuery(params.query);
      checkRoots(params.roots);
      return { files: await searches.search(params, client, signal) };
    },
    'fuzzyFileSearch/sessionStart': ({ sessionId, roots }, { client }) => {
      if (sessionId === '') throw invalidParams('params.sessionId: expected a name for the session, got an empty text');
      checkRoots(roots);
      sessions.start(client, sessionId, roots);
      return {};
    },
    'fuzzyFileSearch/sessionUpdate': ({ sessionId, query }, { client, after }) => {
      checkQuery(query);
      const session = sessions.get(client, sessionId);
      after(() => session.search(query));
      return {};
    },
    'fuzzyFileSearch/sessionStop': ({ sessionId }, { client }) => {
      sessions.stop(client, sessionId);
      return {};
    },
  };
  return {
    handlers,
    endClient(client) {
      searches.endClient(client);
      sessions.endClient(client);
    },
    endAll() {
      searches.endAll();
      sessions.endAll();
    },
  };
}
