// Writes of a client to the user's config.toml: all edits or none, checked as the next start will check them, put in place atomically.
// Trust does not pass this way: what runs hooks or opens a project is changed by the user in the file itself.
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { messageOf, RpcError, systemCode } from '../common/errors.ts';
import { KeyedLock } from '../common/keyed-lock.ts';
import type { ConfigWriteResponse } from '../protocol/config.ts';
import { ConfigError } from './config-error.ts';
import { CONFIG_FILE } from './home.ts';
import { formatPath, parsePath } from './key-path.ts';
import { type LoadedConfig, type LoadOptions, loadConfig } from './load.ts';
import { layerMetadata, REDACTED, versionOf, withoutSecrets } from './read.ts';
import { copyOf, isTable, type ReadonlyTable, sameValue, valueAt } from './table.ts';
import { parseToml, readConfigText } from './toml.ts';
import { TomlEditor } from './toml-editor.ts';
import { realPath } from './trust.ts';

/** The values of `config_write_error_code` in the error's data. */
export type ConfigWriteErrorCode = 'configLayerReadonly' | 'configVersionConflict' | 'configValidationError' | 'configPathNotFound';

export class ConfigWriteError extends RpcError {
  readonly writeCode: ConfigWriteErrorCode;

  constructor(writeCode: ConfigWriteErrorCode, message: string) {
    super('invalidRequest', message, { config_write_error_code: writeCode });
    this.name = 'ConfigWriteError';
    this.writeCode = writeCode;
  }
}

export interface ConfigEdit {
  /** Dotted; segments with dots in them are quoted. */
  readonly keyPath: string;
  /** `null` removes the key. */
  readonly value?: unknown;
  readonly mergeStrategy: 'replace' | 'upsert';
}

export interface ConfigWriteRequest {
  readonly edits: readonly ConfigEdit[];
  /** Only if the file still has this version (see read.ts). */
  readonly expectedVersion?: string | null;
  /** Only the user's own file can be written; null means that one. */
  readonly filePath?: string | null;
}

interface ParsedEdit {
  path: string[];
  value: unknown;
  upsert: boolean;
}

const invalid = (message: string): ConfigWriteError => new ConfigWriteError('configValidationError', message);

function parseEdit({ keyPath, value = null, mergeStrategy }: ConfigEdit): ParsedEdit {
  const parsed = parsePath(keyPath);
  if (!parsed)
    throw new ConfigWriteError(
      'configPathNotFound',
      `keyPath ${JSON.stringify(keyPath)} is not a dotted key such as mcp_servers.x.command`,
    );
  if (holdsRedacted(value)) throw invalid(`${keyPath}: ${REDACTED} stands for a secret that is not shown; leave the key out to keep it`);
  return { path: parsed, value, upsert: mergeStrategy === 'upsert' };
}

const holdsRedacted = (value: unknown): boolean =>
  value === REDACTED || ((Array.isArray(value) || isTable(value)) && Object.values(value).some(holdsRedacted));

/**
 * What only the user may change: trust of projects, hooks with their hashes, and extensions, which bring hooks of their own. Whether a known
 * hook is switched on is not part of it.
 */
function guarded(table: ReadonlyTable): unknown {
  const hooks = copyOf(table.hooks ?? {}) as Record<string, unknown>;
  const states = Object.entries(isTable(hooks.state) ? hooks.state : {});
  const hashes = states.map(([key, state]) => [key, isTable(state) ? state.trusted_hash : state]).filter(([, hash]) => hash !== undefined);
  delete hooks.state;
  const profiles = Object.entries(isTable(table.profiles) ? table.profiles : {});
  const extensions = [
    table.extensions,
    ...profiles.map(([name, profile]) => isTable(profile) && profile.extensions && [name, profile.extensions]),
  ];
  return {
    hooks,
    hashes: Object.fromEntries(hashes),
    projects: copyOf(table.projects ?? {}),
    extensions: copyOf(extensions.filter(Boolean)),
  };
}

/** Rename over the file that a link points to; a new file is the owner's alone, an existing one keeps its mode. */
function replaceFile(file: string, text: string): void {
  const target = realPath(file);
  const temporary = path.join(path.dirname(target), `.${path.basename(target)}.${process.pid}.${randomUUID()}.tmp`);
  let made = false;
  try {
    mkdirSync(path.dirname(target), { recursive: true, mode: 0o700 });
    const mode = (statSync(target, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777;
    const descriptor = openSync(temporary, 'wx', mode);
    made = true;
    try {
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, target);
  } catch (error) {
    if (made) rmSync(temporary, { force: true });
    throw new RpcError('internal', `${file} could not be written (${systemCode(error) ?? messageOf(error)})`);
  }
}

const overrides = (kind: string): boolean => kind === 'profile' || kind === 'flags';

/** The first edit whose value is not the one in force because a higher layer decides it. */
function overriddenBy(loaded: LoadedConfig, edits: readonly ParsedEdit[]): ConfigWriteResponse['overriddenMetadata'] {
  for (const { path: key } of edits) {
    const dotted = formatPath(key);
    const found = [...loaded.origins].find(
      ([name, { layer }]) => (name === dotted || name.startsWith(`${dotted}.`)) && overrides(layer.kind),
    );
    const overridingLayer = found && layerMetadata(found[1].layer);
    if (!overridingLayer) continue;
    const by = found[1].layer.kind === 'flags' ? 'the command line (-c)' : `the profile ${JSON.stringify(found[1].layer.profile ?? '')}`;
    return {
      message: `${found[0]} is overridden by ${by}`,
      overridingLayer,
      effectiveValue: withoutSecrets(valueAt(loaded.config, key)) ?? null,
    };
  }
  return null;
}

export class ConfigWriter {
  readonly #options: LoadOptions;
  /** One write of a file at a time, so that version check and rename belong together. */
  readonly #lock = new KeyedLock();

  /** @param options as the daemon itself loads; `cwd` and `thread` play no part */
  constructor(options: LoadOptions) {
    const { cwd: _cwd, thread: _thread, ...rest } = options;
    this.#options = rest;
  }

  get file(): string {
    return path.join(this.#options.home, CONFIG_FILE);
  }

  /** All edits or none. Throws ConfigWriteError; the file is then as it was. */
  async write(request: ConfigWriteRequest): Promise<ConfigWriteResponse> {
    const { file } = this;
    if (request.filePath && realPath(request.filePath) !== realPath(file)) {
      throw new ConfigWriteError('configLayerReadonly', `filePath: only ${file} can be written, not ${request.filePath}`);
    }
    return this.#lock.run(file, async () => {
      try {
        return await this.#writeLocked(request);
      } catch (error) {
        throw error instanceof ConfigError ? invalid(error.message) : error;
      }
    });
  }

  async #writeLocked(request: ConfigWriteRequest): Promise<ConfigWriteResponse> {
    const { file } = this;
    const before = readConfigText(file);
    const version = versionOf(before ?? '');
    if (request.expectedVersion && request.expectedVersion !== version) {
      throw new ConfigWriteError('configVersionConflict', `${file} has changed since it was read; read it again and repeat the change`);
    }
    const table = await parseToml(before ?? '', file);
    const edits = request.edits.map(parseEdit);
    const editor = new TomlEditor(before ?? '', table);
    for (const edit of edits) {
      if (edit.upsert) editor.upsert(edit.path, edit.value);
      else editor.replace(edit.path, edit.value);
    }
    if (!sameValue(guarded(table), guarded(editor.table))) {
      throw new ConfigWriteError(
        'configLayerReadonly',
        `hooks, extensions and the trust of projects are changed by the user, in ${file} itself, not by a client`,
      );
    }
    const after = editor.text;
    const loaded = await loadConfig({ ...this.#options, userText: after });
    if (!loaded.ok) throw loaded.error;
    if (!sameValue(await parseToml(after, file), editor.table)) {
      throw invalid(
        `${file} is written in a way that cannot be edited here; change ${edits.map((e) => formatPath(e.path)).join(', ')} by hand`,
      );
    }
    if (readConfigText(file) !== before) {
      throw new ConfigWriteError(
        'configVersionConflict',
        `${file} was changed by someone else just now; read it again and repeat the change`,
      );
    }
    if (after !== (before ?? '')) replaceFile(file, after);
    const overriddenMetadata = overriddenBy(loaded, edits);
    return { status: overriddenMetadata ? 'okOverridden' : 'ok', version: versionOf(after), filePath: file, overriddenMetadata };
  }
}
