// Stored threads in the order of their making, as folders and names tell it: a page of the newest ones costs the reading of their folder
// and no look at all the others.
import path from 'node:path';
import type { Position } from '../thread-query.ts';
import {
  ARCHIVED,
  createdAtOf,
  ENDING,
  namesIn,
  newRolloutPath,
  PREFIX,
  rolloutsOf,
  SESSIONS,
  type StoredFile,
  threadIdOf,
} from './paths.ts';

export interface NameOrder {
  archived: boolean;
  descending: boolean;
  /** Only what comes behind this place. */
  after: Position | null;
}

/** Something lies where no thread of ours would: order and places tell nothing then. */
export class NotByName extends Error {}

const DEPTH = ['year', 'month', 'day'].length;
const NUMBERS = /^\d{2,4}$/;
/** What a date can hold. */
const MAX_SECONDS = 8.64e12;

const inOrder = (names: string[], descending: boolean): string[] => (descending ? names.sort().reverse() : names.sort());

/** The days that have folders, in order: year, month and day. Throws NotByName for threads that lie in none. */
function* days(root: string, above: readonly string[], descending: boolean): Generator<readonly string[]> {
  const names = namesIn(path.join(root, ...above));
  if (names.some(threadIdOf)) throw new NotByName(root);
  const numbers = names.filter((name) => NUMBERS.test(name));
  for (const name of inOrder(numbers, descending)) {
    const inside = [...above, name];
    if (inside.length === DEPTH) yield inside;
    else yield* days(root, inside, descending);
  }
}

/** The first and the last second of a day by its folder. */
function secondsOfDay([year, month, day]: readonly string[]): { first: number; last: number } {
  const first = Date.parse(`${year}-${month}-${day}T00:00:00Z`) / 1000;
  return { first, last: first + 86_399 };
}

/** Those behind the place, in order: as a name holds first the time and then the id, names are compared as they are. */
function behind(names: readonly string[], { descending, after }: NameOrder): string[] {
  const threads = names.filter((name) => name.startsWith(PREFIX) && name.endsWith(ENDING));
  const last = after && path.basename(newRolloutPath('', after.id, new Date(after.at * 1000)));
  const wanted = last ? threads.filter((name) => (descending ? name < last : name > last)) : threads;
  return inOrder(wanted, descending);
}

/** Threads by the time of their making. No file is opened. Throws NotByName when names do not tell all of it. */
export function* byName(home: string, order: NameOrder): Generator<StoredFile> {
  const { archived, descending, after } = order;
  if (after && !(Math.abs(after.at) <= MAX_SECONDS)) throw new NotByName('a place that no name can hold');
  if (archived) {
    const dir = path.join(home, ARCHIVED);
    const names = namesIn(dir);
    if (names.some((name) => threadIdOf(name) && createdAtOf(name) === 0)) throw new NotByName(dir);
    yield* rolloutsOf({ dir, archived }, behind(names, order));
    return;
  }
  const root = path.join(home, SESSIONS);
  for (const day of days(root, [], descending)) {
    const { first, last } = secondsOfDay(day);
    if (after && (descending ? first > after.at : last < after.at)) continue;
    const dir = path.join(root, ...day);
    const names = namesIn(dir);
    const today = `${PREFIX}${day.join('-')}T`;
    if (names.some((name) => !name.startsWith(today) && threadIdOf(name))) throw new NotByName(dir);
    yield* rolloutsOf({ dir, archived }, behind(names, order));
  }
}
