// A real process around the wire: the smallest daemon, for tests that need true pipes. Bundled and spawned by stdio.test.ts.
import { Connection } from '../../src/server/connection.ts';
import { StdioTransport } from '../../src/server/transport.ts';

// Holds the process, as a daemon with threads and children would.
const held = setInterval(() => {}, 1_000);

const connection: Connection = new Connection(new StdioTransport({ maxMessageBytes: 32 * 1024 * 1024 }), {
  onRequest: async (method, params) => {
    if (method === 'pad') return 'x'.repeat(Number(params));
    if (method === 'later') await new Promise((resolve) => setTimeout(resolve, 50));
    if (method === 'flood') setInterval(() => connection.notify('tick', {}), 5);
    return params ?? null;
  },
  onNotification: () => {},
  onResponse: () => false,
  onEnd: async (reason) => {
    const drained = await connection.drain(5_000);
    clearInterval(held);
    process.stderr.write(`${JSON.stringify({ ...reason, drained })}\n`, () => process.exit(0));
  },
});
