// An MCP server with the one tool of one-tool.test.ts.
const tool = {
  name: 'weigh',
  description: 'Weighs a word.',
  inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  annotations: { readOnlyHint: true },
};
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

function handle({ id, method, params }) {
  if (id === undefined) return;
  if (method === 'initialize') {
    const serverInfo = { name: 'weigh', version: '1' };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list') send({ id, result: { tools: [tool] } });
  else if (method === 'tools/call') {
    const { word } = params.arguments;
    if (word === 'wait') return;
    const [text, isError] = word === 'fail' ? ['weigh failed: no scales', true] : [`${word} weighs ${word.length}`, false];
    send({ id, result: { content: [{ type: 'text', text }], isError } });
  } else send({ id, error: { code: -32601, message: `no method ${method}` } });
}

let rest = '';
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) handle(JSON.parse(line));
});
process.stdin.on('end', () => process.exit(0));
