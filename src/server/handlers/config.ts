// Configuration over the wire: what is in force and why, and the client's writes to the user's own file.
import { isAbsolute } from 'node:path';
import { invalidParams } from '../../common/errors.ts';
import { ConfigWriter } from '../../config/edit.ts';
import { configReadResponse, configRequirementsResponse } from '../../config/read.ts';
import type { HandlersFor } from '../handler.ts';
import { type ConfigSource, configFor } from '../thread-setup.ts';

export interface ConfigPorts {
  source: ConfigSource;
  /** Connects configured servers anew. Without it there is nothing to reload: every thread reads the configuration as it starts. */
  reloadMcpServers?(): Promise<void> | void;
}

type Methods = 'config/read' | 'config/value/write' | 'config/batchWrite' | 'configRequirements/read' | 'config/mcpServer/reload';

export function configHandlers(ports: ConfigPorts): HandlersFor<Methods> {
  const writer = new ConfigWriter(ports.source);
  return {
    'config/read': async ({ cwd, includeLayers }) => {
      if (typeof cwd === 'string' && !isAbsolute(cwd))
        throw invalidParams(`params.cwd: expected an absolute path, got ${JSON.stringify(cwd)}`);
      return configReadResponse(await configFor(ports.source, cwd ?? null, null), includeLayers ?? false);
    },
    'config/value/write': ({ expectedVersion, filePath, ...edit }) => writer.write({ edits: [edit], expectedVersion, filePath }),
    'config/batchWrite': ({ edits, expectedVersion, filePath }) => writer.write({ edits, expectedVersion, filePath }),
    'configRequirements/read': () => configRequirementsResponse(),
    'config/mcpServer/reload': async () => {
      await ports.reloadMcpServers?.();
      return {};
    },
  };
}
