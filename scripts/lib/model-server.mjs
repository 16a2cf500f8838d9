// A model with no latency: answers POST …/responses on a local port with the output items that a script function gives.
import http from 'node:http';

let lastId = 0;
const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 120,
};

/** A message that arrives in pieces of `piece` characters. */
export function messageItem(text, piece = 8) {
  return { item: { type: 'message', role: 'assistant', id: `msg_${++lastId}`, content: [{ type: 'output_text', text }] }, piece };
}

export function callItem(name, args) {
  const id = ++lastId;
  return { item: { type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, name, arguments: JSON.stringify(args) } };
}

function* events(items) {
  const response = { id: `resp_${++lastId}` };
  yield { type: 'response.created', response };
  for (const [index, { item, piece }] of items.entries()) {
    if (item.type === 'message') {
      const text = item.content[0].text;
      const place = { item_id: item.id, output_index: index, content_index: 0 };
      yield { type: 'response.output_item.added', output_index: index, item: { ...item, content: [] } };
      for (let at = 0; at < text.length; at += piece) {
        yield { type: 'response.output_text.delta', ...place, delta: text.slice(at, at + piece) };
      }
    }
    yield { type: 'response.output_item.done', output_index: index, item };
  }
  yield { type: 'response.completed', response: { ...response, usage: USAGE } };
}

const frame = (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** `script(n)` gives the items of the n-th answer, from 0. */
export async function startModelServer(script) {
  let served = 0;
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.method !== 'POST' || !request.url.endsWith('/responses')) {
        response.writeHead(404).end('{}');
        return;
      }
      // The whole answer in one write: the bench measures the daemon, not this server.
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(Array.from(events(script(served++)), frame).join(''));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    get served() {
      return served;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
