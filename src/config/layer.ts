// One source of configuration after it was read and checked, and what is said about it.
import type { Position } from './config-error.ts';
import type { ConfigTable } from './schema.ts';

export type LayerKind = 'defaults' | 'system' | 'user' | 'profile' | 'project' | 'flags' | 'thread';

export interface ConfigLayer {
  readonly kind: LayerKind;
  /** The file it was read from; for a file that does not exist, where it would be. Null for what is not in a file. */
  readonly file: string | null;
  /** Name of the profile. */
  readonly profile?: string;
  /** The text of the file as it was read. */
  readonly text: string;
  /** Checked, paths absolute, without the keys that this source may not set. Empty when disabled. */
  readonly table: ConfigTable;
  /** Why the layer has no effect; null for one that has. */
  readonly disabledReason: string | null;
}

export interface ConfigWarning {
  /** One line for a person, with the place. */
  readonly summary: string;
  readonly details: string | null;
  readonly file: string | null;
  readonly position: Position | null;
}
