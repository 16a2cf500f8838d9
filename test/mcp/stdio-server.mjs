// A stdio MCP server of our own for the tests: lines of JSON-RPC, a few tools that behave in one way each. It logs what it hears to the
// file named in MCP_TEST_LOG. Arguments: --mute (never answers), --dies (exits at once), --noise (talks on stdout and stderr).
import fs from 'node:fs';

const has = (flag) => process.argv.includes(flag);
const log = (event) => process.env.MCP_TEST_LOG && fs.appendFileSync(process.env.MCP_TEST_LOG, `${JSON.stringify(event)}\n`);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });

log({ event: 'start', pid: process.pid });
if (has('--dies')) {
  process.stderr.write('no database here\n');
  process.exit(3);
}
if (has('--noise')) {
  process.stdout.write('Hello!\n{"half": \n\n');
  process.stderr.write('x'.repeat(200_000));
}

const tools = [
  { name: 'echo', description: 'Repeats', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } },
  { name: 'grow', description: 'Adds a tool', inputSchema: { type: 'object' } },
];
const waiting = new Map();

const run = {
  echo: (args) => text(`echo ${args.text}`),
  pid: () => text(String(process.pid)),
  crash: () => process.exit(9),
  hang: () => new Promise(() => {}),
  report: async (_args, params, id) => {
    for (const step of [1, 2, 3])
      send({
        method: 'notifications/progress',
        params: { progressToken: params._meta?.progressToken, progress: step, message: `step ${step}` },
      });
    return text(`request ${id}`);
  },
  steady: async (_args, params) => {
    for (let step = 1; step <= 6; step++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      send({ method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress: step, total: 6 } });
    }
    return text('done');
  },
  big: (args) => text('y'.repeat(args.size)),
  ask: async () => {
    send({ id: 'ask-1', method: 'elicitation/create', params: { message: 'Name?', requestedSchema: { type: 'object', properties: {} } } });
    const answer = await new Promise((resolve) => waiting.set('ask-1', resolve));
    return text(JSON.stringify(answer));
  },
  roots: async () => {
    send({ id: 'roots-1', method: 'roots/list' });
    return text(JSON.stringify(await new Promise((resolve) => waiting.set('roots-1', resolve))));
  },
  sample: async () => {
    send({ id: 'sample-1', method: 'sampling/createMessage', params: {} });
    return text(JSON.stringify(await new Promise((resolve) => waiting.set('sample-1', resolve))));
  },
  grow: () => {
    tools.push({ name: 'grown', description: 'New', inputSchema: { type: 'object' } });
    for (let i = 0; i < 50; i++) send({ method: 'notifications/tools/list_changed' });
    return text('grew');
  },
};

async function handle({ id, method, params = {}, result, error }) {
  if (method === undefined) return waiting.get(id)?.(result ?? error);
  if (id === undefined) return log({ event: 'notified', method, params });
  if (method === 'initialize') {
    if (has('--mute')) return undefined;
    const answer = {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: { listChanged: true }, resources: {} },
      serverInfo: { name: 'test', version: '1' },
      instructions: 'Be kind.',
    };
    return send({ id, result: answer });
  }
  if (method === 'tools/list') {
    log({ event: 'listed' });
    const from = Number(params.cursor ?? 0);
    return send({
      id,
      result: {
        tools: [...tools.slice(from, from + 1), ...(from === 0 ? ['odd'] : [])],
        ...(from + 1 < tools.length ? { nextCursor: String(from + 1) } : {}),
      },
    });
  }
  if (method === 'resources/list') return send({ id, result: { resources: [{ uri: 'memo://1', name: 'one' }] } });
  if (method === 'tools/call') {
    log({ event: 'call', id, name: params.name });
    const tool = run[params.name];
    if (!tool) return send({ id, error: { code: -32602, message: `no tool ${params.name}` } });
    return send({ id, result: await tool(params.arguments ?? {}, params, id) });
  }
  return send({ id, error: { code: -32601, message: `no method ${method}` } });
}

let rest = '';
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) void handle(JSON.parse(line));
});
process.stdin.on('end', () => process.exit(0));
