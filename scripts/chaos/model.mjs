// A model that does as it is told, one answer after another, and keeps every request: it can be slow, and it can be silent.
import http from 'node:http';

const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 120,
};
let lastId = 0;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export const say = (text) => ({ type: 'message', role: 'assistant', id: `msg_${++lastId}`, content: [{ type: 'output_text', text }] });

export function call(name, args) {
  const id = ++lastId;
  return { type: 'function_call', id: `fc_${id}`, call_id: `call_${process.pid}_${id}`, name, arguments: JSON.stringify(args) };
}

function* events(items) {
  const response = { id: `resp_${++lastId}` };
  yield { type: 'response.created', response };
  for (const [index, item] of items.entries()) {
    if (item.type === 'message') {
      yield { type: 'response.output_item.added', output_index: index, item: { ...item, content: [] } };
      const place = { item_id: item.id, output_index: index, content_index: 0 };
      for (const word of item.content[0].text.split(/(?<= )/)) yield { type: 'response.output_text.delta', ...place, delta: word };
    }
    yield { type: 'response.output_item.done', output_index: index, item };
  }
  yield { type: 'response.completed', response: { ...response, usage: USAGE } };
}

/** `next(body)` gives `{ items, silent?, betweenMs? }` for a request. */
export async function startModel(next) {
  const requests = [];
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (!request.url.endsWith('/responses')) {
      response.writeHead(404).end('{}');
      return;
    }
    const body = JSON.parse(Buffer.concat(chunks).toString());
    requests.push(body);
    const { items, silent = false, betweenMs = 0 } = next(body);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (silent) return;
    for (const event of events(items)) {
      if (response.destroyed) return;
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      if (betweenMs) await pause(betweenMs);
    }
    response.end();
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    requests,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
