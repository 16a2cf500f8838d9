// Outlines of the threads that are read, brought up to date when their files grow. That of a long record is kept in the index too, so that
// no later daemon reads the whole file for a page of it.
import { stat } from 'node:fs/promises';
import type { TurnRecord } from '../turn-record.ts';
import type { BlobFolder } from './blobs.ts';
import { RolloutOutline, StaleOutline } from './outline.ts';

/** Where outlines outlive a process. */
export interface OutlineKeeper {
  keptOutline(threadId: string): Promise<string | null>;
  keepOutline(threadId: string, text: string): Promise<void>;
}

export interface RecordPlace {
  threadId: string;
  file: string;
  blobs: BlobFolder;
}

interface Known {
  outline: RolloutOutline;
  size: number;
  mtimeMs: number;
}

const KNOWN_OUTLINES = 8;
/** A record of this size takes as long to look through as to ask the index. */
const KEPT_FROM_BYTES = 4 << 20;
/** An outline is kept anew when this much was added to it. */
const KEPT_EACH_BYTES = 1 << 20;

export class Outlines {
  /** By file, the least used first. */
  readonly #known = new Map<string, Known>();
  readonly #keeper: OutlineKeeper;

  constructor(keeper: OutlineKeeper) {
    this.#keeper = keeper;
  }

  /** Rejects with the system's error when the file cannot be read. */
  async turnIds(place: RecordPlace): Promise<readonly string[]> {
    return (await this.#of(place)).turnIds;
  }

  /** Turns in the order of the ids. `running`: the last one may still be written to. */
  async load(place: RecordPlace, ids: readonly string[], options: { running: boolean }): Promise<TurnRecord[]> {
    try {
      return await (await this.#of(place)).load(ids, options);
    } catch (error) {
      if (!(error instanceof StaleOutline)) throw error;
      // The file was written by another hand since.
      this.#known.delete(place.file);
      return (await this.#update(place, new RolloutOutline(place.file, place.blobs))).load(ids, options);
    }
  }

  async #of(place: RecordPlace): Promise<RolloutOutline> {
    const { size, mtimeMs } = await stat(place.file);
    const known = this.#known.get(place.file);
    if (known?.size === size && known.mtimeMs === mtimeMs) {
      this.#remember(place.file, known);
      return known.outline;
    }
    const grown = known && size > known.size ? known.outline : null;
    const kept = !grown && size >= KEPT_FROM_BYTES ? await this.#keeper.keptOutline(place.threadId) : null;
    const { file, blobs } = place;
    return this.#update(
      place,
      grown ?? (kept ? RolloutOutline.from(kept, { file, blobs, size }) : null) ?? new RolloutOutline(file, blobs),
    );
  }

  async #update(place: RecordPlace, outline: RolloutOutline): Promise<RolloutOutline> {
    const { size, mtimeMs } = await stat(place.file);
    const before = outline.scannedTo;
    await outline.extend();
    this.#remember(place.file, { outline, size, mtimeMs });
    const { scannedTo } = outline;
    if (scannedTo >= KEPT_FROM_BYTES && scannedTo - before >= KEPT_EACH_BYTES)
      await this.#keeper.keepOutline(place.threadId, JSON.stringify(outline));
    return outline;
  }

  #remember(file: string, known: Known): void {
    this.#known.delete(file);
    this.#known.set(file, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= KNOWN_OUTLINES) break;
      this.#known.delete(oldest);
    }
  }
}
