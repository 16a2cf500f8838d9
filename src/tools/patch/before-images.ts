// What the files of a turn held before its first patch touched them, kept as artifacts so that a client can put them back. Written before
// the patch is: a crash in between leaves an image too many, never one too few.
import { decodeUtf8 } from '../../patch/lines.ts';
import type { FileImage, Plan, PlannedFile } from '../../patch/plan.ts';
import type { ArtifactPort } from '../artifacts.ts';

/** One entry of the manifest. */
export interface BeforeFile {
  /** Absolute and real. */
  path: string;
  state: 'absent' | 'file' | 'link';
  /** The artifact that holds the content; null when there is none, or it could not be kept. */
  artifact: string | null;
  encoding: 'utf8' | 'base64';
  /** Permission bits; null when the file did not exist. */
  mode: number | null;
  /** What the link held. */
  link: string | null;
}

/** The JSON text of the artifact `manifestId(turnId)`. */
export interface BeforeManifest {
  turnId: string;
  files: BeforeFile[];
}

export const manifestId = (turnId: string): string => `before-${turnId}`;

interface Before {
  path: string;
  image: FileImage | null;
  link: string | null;
}

const absent = (path: string): Before => ({ path, image: null, link: null });

function beforeOf(file: PlannedFile): Before[] {
  switch (file.type) {
    case 'add':
      return [absent(file.target)];
    case 'update':
      return [{ path: file.target, image: file.before, link: null }];
    case 'delete':
      return [{ path: file.entry, image: file.before ?? null, link: file.link ?? null }];
    case 'move':
      return [{ path: file.entry, image: file.before, link: file.link ?? null }, absent(file.target)];
  }
}

export class BeforeImages {
  readonly #turnId: string;
  readonly #artifacts: ArtifactPort;
  /** By path, in the order of first touch; an entry never changes. */
  readonly #files = new Map<string, BeforeFile>();

  constructor(turnId: string, artifacts: ArtifactPort) {
    this.#turnId = turnId;
    this.#artifacts = artifacts;
  }

  /** Keeps the images of files that this turn has not touched yet. Never rejects. */
  async keep(plan: Plan): Promise<void> {
    const fresh = plan.files.flatMap(beforeOf).filter(({ path }) => !this.#files.has(path));
    if (fresh.length === 0) return;
    const first = this.#files.size;
    const kept = await Promise.all(fresh.map((before, i) => this.#keepOne(before, first + i)));
    for (const file of kept) this.#files.set(file.path, file);
    const manifest: BeforeManifest = { turnId: this.#turnId, files: [...this.#files.values()] };
    await this.#artifacts.save(manifestId(this.#turnId), JSON.stringify(manifest, null, 1));
  }

  async #keepOne({ path, image, link }: Before, number: number): Promise<BeforeFile> {
    if (link !== null) return { path, state: 'link', artifact: null, encoding: 'utf8', mode: null, link };
    if (!image) return { path, state: 'absent', artifact: null, encoding: 'utf8', mode: null, link: null };
    const text = decodeUtf8(image.bytes);
    const encoding = text === undefined ? 'base64' : 'utf8';
    const id = `${manifestId(this.#turnId)}-${number}`;
    const file = await this.#artifacts.save(id, text ?? Buffer.from(image.bytes).toString('base64'));
    return { path, state: 'file', artifact: file === null ? null : id, encoding, mode: image.stat.mode, link: null };
  }
}
