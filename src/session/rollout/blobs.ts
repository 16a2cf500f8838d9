// Images and other base64 data of a thread lie out of line: each once, as its bytes, in a file that is named by its hash. A line of the
// record says in `blobs`, beside what it tells, where they belong, so no text of a user or a model can be taken for such a mark. In memory
// they are read again when somebody looks at them.
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { mkdir, rename, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../../common/errors.ts';
import { logger } from '../../common/log.ts';
import { type LineReading, type RolloutLine, readRolloutLine } from '../../protocol/rollout.ts';

/** Shorter data stays in its line, in characters. */
const MIN_CHARS = 4_096;
/** How much of a text is looked at before all of it is decoded. */
const PROBE_CHARS = 256;
/** A URL with data, up to the data itself; nothing for bare base64. */
const HEAD = /^(?:data:[^,]{0,200};base64,)?/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const HASH = /^[0-9a-f]{64}$/;
const WORDS: ReadonlySet<string> = new Set(['text', 'output', 'aggregatedOutput', 'arguments', 'input', 'command']);
const BARE: ReadonlySet<string> = new Set(['data', 'blob']);
/** Lines that may hold data. */
const CARRIERS: ReadonlySet<string> = new Set<RolloutLine['type']>([
  'input',
  'history',
  'result',
  'itemStarted',
  'item',
  'compacted',
  'queue',
]);
/** Distinct data whose hash is remembered: the same image comes as input, as item and as message. */
const REMEMBERED = 8;

const GONE = '[An image stood here; its file is gone.]';
/** One transparent pixel: what is shown when a file disappears from under a thread, as no model takes an empty image. */
const PIXEL = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** Where data belongs in its line, and what it is. */
export interface BlobMark {
  at: (string | number)[];
  /** SHA-256 of the bytes, which is the name of the file. */
  sha256: string;
  bytes: number;
  /** What stands in front of the base64. */
  head: string;
}

type Parent = Record<string | number, unknown>;

interface Found {
  parent: Parent;
  at: (string | number)[];
  data: Blob;
}

interface Blob {
  sha256: string;
  head: string;
  content: Buffer;
}

/** A line without its data. */
export interface StrippedLine {
  line: RolloutLine & { blobs: BlobMark[] };
  found: readonly Found[];
}

/** Objects of which a property is read from a file. */
const lazy = new WeakSet<object>();

/** Words stay with their line, whatever they look like; bare base64 is data where a protocol says so. */
const mayBeData = (key: string, text: string): boolean => (text.startsWith('data:') ? !WORDS.has(key) : BARE.has(key));

function blobOf(text: string): Blob | null {
  const head = HEAD.exec(text)?.[0] ?? '';
  if (!BASE64.test(text.slice(head.length, head.length + PROBE_CHARS))) return null;
  const encoded = text.slice(head.length);
  const content = Buffer.from(encoded, 'base64');
  // What would not come back as it is stays where it is.
  if (content.toString('base64') !== encoded) return null;
  return { sha256: createHash('sha256').update(content).digest('hex'), head, content };
}

const isMark = (value: unknown): value is BlobMark => {
  const mark = value as BlobMark | null;
  return (
    Array.isArray(mark?.at) &&
    mark.at.length > 0 &&
    typeof mark.sha256 === 'string' &&
    HASH.test(mark.sha256) &&
    typeof mark.bytes === 'number' &&
    typeof mark.head === 'string'
  );
};

/** The object that holds what a mark names, or null when the line has no such place. */
function parentOf(line: object, at: readonly (string | number)[]): Parent | null {
  let value: unknown = line;
  for (const key of at.slice(0, -1)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null;
    value = (value as Parent)[key];
  }
  const last = at.at(-1) ?? '';
  return typeof value === 'object' && value !== null && Object.hasOwn(value, last) && (value as Parent)[last] === ''
    ? (value as Parent)
    : null;
}

/** Says in words what is missing, where the place is a part of a message. */
function sayGone(parent: Parent): void {
  const instead = { input_image: 'input_text', inputImage: 'inputText', image: 'text' }[String(parent.type)];
  if (instead === undefined) return;
  for (const key of Object.keys(parent)) delete parent[key];
  Object.assign(parent, { type: instead, text: GONE }, instead === 'text' ? { text_elements: [] } : {});
}

export class BlobFolder {
  readonly #dir: string;
  readonly #known = new Map<string, Blob | null>();

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Takes the data out of a line that holds any; null for all others. The line itself stays as it is. */
  strip(line: RolloutLine): StrippedLine | null {
    if (!CARRIERS.has(line.type)) return null;
    const found: Found[] = [];
    const stripped = this.#without(line, [], found) as RolloutLine;
    if (found.length === 0) return null;
    const blobs = found.map(({ at, data }) => ({ at, sha256: data.sha256, bytes: data.content.length, head: data.head }));
    return { line: { ...stripped, blobs }, found };
  }

  /** The same value, or a copy where something in it is data. */
  #without(value: unknown, at: (string | number)[], found: Found[]): unknown {
    if (typeof value !== 'object' || value === null) return value;
    const parent = value as Parent;
    let copy: Parent | null = null;
    for (const key of Object.keys(parent)) {
      const inner = parent[key];
      if (typeof inner !== 'object' && (typeof inner !== 'string' || inner.length < MIN_CHARS)) continue;
      const place = [...at, Array.isArray(value) ? Number(key) : key];
      const data = typeof inner === 'string' && mayBeData(key, inner) ? this.#blobOf(inner) : null;
      if (data) found.push({ parent, at: place, data });
      const left = data ? '' : this.#without(inner, place, found);
      if (left === inner) continue;
      copy ??= (Array.isArray(value) ? [...value] : { ...parent }) as Parent;
      copy[key] = left;
    }
    return copy ?? value;
  }

  #blobOf(text: string): Blob | null {
    let blob = this.#known.get(text);
    if (blob !== undefined) return blob;
    blob = blobOf(text);
    this.#known.set(text, blob);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= REMEMBERED) break;
      this.#known.delete(oldest);
    }
    return blob;
  }

  /** Writes the data of a line, what is there already excepted. Rejects with the system's error. */
  async write({ found }: StrippedLine): Promise<void> {
    for (const { data } of found) {
      const file = this.#fileOf(data.sha256);
      if ((await stat(file).catch(() => null))?.size === data.content.length) continue;
      await mkdir(this.#dir, { recursive: true, mode: 0o700 });
      // Under its name only when whole.
      const part = `${file}.${process.pid}.part`;
      await writeFile(part, data.content, { mode: 0o600 });
      await rename(part, file);
    }
  }

  /** Lets go of data that is written: whoever looks at it reads the file. */
  release({ line, found }: StrippedLine): void {
    this.#known.clear();
    for (const [i, { parent, at }] of found.entries()) {
      const key = at.at(-1) ?? '';
      const own = Object.getOwnPropertyDescriptor(parent, key);
      if (own?.configurable && own.writable && typeof own.value === 'string') this.#defer(parent, key, line.blobs[i]);
    }
  }

  /** Reads a line of the record and puts its data back. `lost` counts what is not there any more. */
  read(text: string): { reading: LineReading; lost: number } {
    const reading = readRolloutLine(text);
    if (reading.type !== 'line' || !('blobs' in reading.line)) return { reading, lost: 0 };
    const { blobs, ...line } = reading.line as RolloutLine & { blobs: unknown };
    let lost = 0;
    for (const mark of Array.isArray(blobs) ? blobs.filter(isMark) : []) {
      const parent = parentOf(line, mark.at);
      if (!parent) continue;
      if (this.#has(mark)) this.#defer(parent, mark.at.at(-1) ?? '', mark);
      else {
        lost++;
        sayGone(parent);
      }
    }
    return { reading: { ...reading, line: line as RolloutLine }, lost };
  }

  #fileOf(sha256: string): string {
    return path.join(this.#dir, sha256);
  }

  #has({ sha256, bytes }: BlobMark): boolean {
    try {
      return statSync(this.#fileOf(sha256)).size === bytes;
    } catch {
      return false;
    }
  }

  #defer(parent: Parent, key: string | number, { sha256, head }: BlobMark): void {
    const file = this.#fileOf(sha256);
    let kept: WeakRef<{ text: string }> | undefined;
    const get = (): string => {
      const known = kept?.deref();
      if (known) return known.text;
      const read = { text: textIn(file, head) };
      kept = new WeakRef(read);
      return read.text;
    };
    const set = (value: unknown) => Object.defineProperty(parent, key, { configurable: true, enumerable: true, writable: true, value });
    Object.defineProperty(parent, key, { configurable: true, enumerable: true, get, set });
    lazy.add(parent);
  }
}

function textIn(file: string, head: string): string {
  try {
    return head + readFileSync(file, 'base64');
  } catch (error) {
    logger().warn({ file, error: messageOf(error) }, 'an image of a thread is gone');
    return head.startsWith('data:') ? PIXEL : '';
  }
}

function readsFiles(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return lazy.has(value) || Object.values(value).some(readsFiles);
}

/** The same value, or a copy that does not depend on the files of the thread that it comes from. */
export const detached = <T>(value: T): T => (readsFiles(value) ? (JSON.parse(JSON.stringify(value)) as T) : value);
