// read_artifact: a range of what was cut from an earlier result.
import type { ArtifactReading } from '../artifacts.ts';
import { readFunctionPayload } from '../gates/validate.ts';
import { failedOutput, textOutput } from '../result.ts';
import type { ToolRuntime } from '../runtime.ts';

const DEFAULT_LIMIT = 16 * 1024;

const parameters = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'The file that a cut result named, or its name alone.' },
    offset: { type: 'integer', minimum: 0, description: 'First byte of the range (default 0).' },
    limit: { type: 'integer', minimum: 1, description: `Bytes at most (default ${DEFAULT_LIMIT}).` },
  },
  required: ['id'],
} as const;

interface Args {
  id: string;
  offset?: number;
  limit?: number;
}

export interface ArtifactReader {
  read(id: string, offset: number, limit: number): Promise<ArtifactReading>;
}

export function readArtifact(artifacts: ArtifactReader): ToolRuntime<Args> {
  return {
    name: { name: 'read_artifact' },
    spec: {
      type: 'function',
      name: 'read_artifact',
      description: 'Reads a range of a result that was cut and kept in a file.',
      parameters,
      strict: false,
    },
    exposure: 'direct',
    source: { type: 'builtin' },
    supportsParallel: true,
    waitsForCleanup: false,
    external: false,
    validate: (payload) => readFunctionPayload<Args>('read_artifact', payload, parameters),
    run: async ({ args }) => {
      const reading = await artifacts.read(args.id, args.offset ?? 0, args.limit ?? DEFAULT_LIMIT);
      if (reading.type === 'unknown') {
        const known = reading.known.length ? ` Kept in this thread: ${reading.known.join(', ')}.` : ' This thread has none.';
        return failedOutput('not_found', `There is no artifact ${args.id}.${known}`);
      }
      const { offset, nextOffset, totalBytes, text } = reading;
      const end = nextOffset ?? totalBytes;
      const more = nextOffset === null ? 'This is the end.' : `Go on at offset ${nextOffset}.`;
      return textOutput(`Bytes ${offset}–${end} of ${totalBytes}. ${more}\n${text}`);
    },
  };
}
