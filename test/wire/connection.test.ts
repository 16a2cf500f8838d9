import { describe, expect, it } from 'vitest';
import { invalidParams, RpcError } from '../../src/common/errors.ts';
import type { RpcResponse } from '../../src/protocol/jsonrpc.ts';
import { Connection, type ConnectionHandlers, type EndReason, type RequestContext } from '../../src/server/connection.ts';
import type { TransportLimits } from '../../src/server/transport.ts';
import { LinkedClient, tick, type Wire } from './linked.ts';

interface Served {
  client: LinkedClient;
  connection: Connection;
  notified: unknown[];
  responses: RpcResponse[];
  ends: EndReason[];
  contexts: RequestContext[];
}

type Handler = (params: unknown, context: RequestContext) => unknown;

/** A server with one handler per method; `echo` gives the params back. */
function serve(methods: Record<string, Handler> = {}, more: Partial<ConnectionHandlers> = {}, limits: TransportLimits = {}): Served {
  const client = new LinkedClient(limits).read();
  const served: Omit<Served, 'connection'> = { client, notified: [], responses: [], ends: [], contexts: [] };
  const all: Record<string, Handler> = { echo: (params) => params, ...methods };
  const connection = new Connection(client.transport, {
    onRequest: async (method, params, context) => {
      served.contexts.push(context);
      if (!Object.hasOwn(all, method)) throw new RpcError('methodNotFound', `unknown method: ${method}`);
      return all[method](params, context);
    },
    onNotification: (method, params) => void served.notified.push([method, params]),
    onResponse: (message) => {
      served.responses.push(message);
      return message.id === 0;
    },
    onEnd: (reason) => void served.ends.push(reason),
    ...more,
  });
  return { ...served, connection };
}

const error = (id: unknown, code: number, message: string): Wire => ({ id, error: { code, message } });

describe('requests', () => {
  it('[wire.ids] ids come back as they were sent: "7" is not 7, and two alike in flight are both answered', async () => {
    const { client } = serve();
    const ids = ['req-1', '', '7', 7, 0, '0', -7, Number.MAX_SAFE_INTEGER, 'ключ', 7, '7'];
    client.sendRaw(ids.map((id, n) => `${JSON.stringify({ id, method: 'echo', params: { n } })}\n`).join(''));
    expect(await client.messages(ids.length)).toEqual(ids.map((id, n) => ({ id, result: { n } })));
  });

  it('[wire.jsonrpc-member] a jsonrpc member is accepted and never sent', async () => {
    const { client, connection } = serve();
    client.send({ jsonrpc: '2.0', id: 1, method: 'echo', params: { a: 1 } });
    client.send({ jsonrpc: '2.0', id: 2, method: 'nope' });
    await client.messages(2);
    connection.notify('x/y', {});
    connection.sendRequest(0, 'ask', {});
    await client.messages(4);
    expect(client.text).not.toContain('jsonrpc');
  });

  it('[wire.answer-size] an answer that is too large to be sent is refused with what to ask instead, and the connection goes on', async () => {
    const { client, ends } = serve(
      { large: () => 'x'.repeat(3_500), larger: () => ({ toJSON: () => 'x'.repeat(2 ** 30) }) },
      {},
      { maxWaitingBytes: 4_000 },
    );
    for (const [id, method] of ['large', 'larger', 'echo'].entries()) client.send({ id, method, params: {} });
    const [first, second, third] = await client.messages(3);
    const data = { reason: 'answer_too_large', max_chars: 3_000 };
    const message = expect.stringMatching(/^the answer is too large: 3520 characters, at most 3000 are sent. Ask for less of it: in pages/);
    expect(first).toEqual({ id: 0, error: { code: -32600, message, data: { ...data, actual_chars: 3_520 } } });
    expect(second).toMatchObject({ id: 1, error: { code: -32600, data } });
    expect([third, ends]).toEqual([{ id: 2, result: {} }, []]);
  });

  it('[wire.errors] an RpcError is answered as it is; the text of any other throw stays in the log', async () => {
    const { client } = serve({
      bad: () => {
        throw invalidParams('params.a: expected string', { field: 'a' });
      },
      crash: () => {
        throw new Error('secret /home/me/key');
      },
      odd: () => Promise.reject('secret'),
      cyclic: () => {
        const loop: Record<string, unknown> = {};
        loop['loop'] = loop;
        return loop;
      },
      nothing: () => undefined,
    });
    for (const method of ['bad', 'crash', 'odd', 'cyclic', 'nothing', 'nope']) client.send({ id: method, method });
    const answers = Object.fromEntries((await client.messages(6)).map((m) => [m['id'], m]));
    expect(answers).toEqual({
      bad: { id: 'bad', error: { code: -32602, message: 'params.a: expected string', data: { field: 'a' } } },
      crash: error('crash', -32603, 'internal error'),
      odd: error('odd', -32603, 'internal error'),
      cyclic: error('cyclic', -32603, 'internal error'),
      nothing: { id: 'nothing', result: null },
      nope: error('nope', -32601, 'unknown method: nope'),
    });
  });

  it('[wire.params] params of any form reach the handler untouched', async () => {
    const { client } = serve();
    const forms = [[], [1, 2], 'x', 5, null, { a: null }];
    for (const [id, params] of forms.entries()) client.send({ id, method: 'echo', params });
    expect((await client.messages(forms.length)).map((m) => m['result'])).toEqual(forms);
  });

  it('[wire.concurrent] a request that takes long does not hold the others', async () => {
    let finish = (): void => {};
    const { client } = serve({ slow: () => new Promise<void>((resolve) => (finish = resolve)) });
    client.send({ id: 1, method: 'slow' });
    client.send({ id: 2, method: 'echo', params: 'quick' });
    expect(await client.messages(1)).toEqual([{ id: 2, result: 'quick' }]);
    finish();
    expect((await client.messages(2))[1]).toEqual({ id: 1, result: null });
  });

  it('[wire.after-response] what must follow an answer follows it, in order; a failed request drops it', async () => {
    const served: Served = serve({
      start: (_, context) => {
        context.afterResponse(() => served.connection.notify('first', {}));
        context.afterResponse(() => {
          throw new Error('one bad callback does not stop the next');
        });
        context.afterResponse(() => served.connection.notify('second', {}));
        served.connection.notify('before', {});
        return { ok: true };
      },
      fail: (_, context) => {
        context.afterResponse(() => served.connection.notify('never', {}));
        throw invalidParams('no');
      },
    });
    served.client.send({ id: 2, method: 'fail' });
    served.client.send({ id: 1, method: 'start' });
    const names = (await served.client.messages(5)).map((m) => m['method'] ?? m['id']);
    expect(names).toEqual([2, 'before', 1, 'first', 'second']);
    served.contexts[1].afterResponse(() => served.connection.notify('late', {}));
    expect((await served.client.messages(6))[5]['method']).toBe('late');
  });

  it('[wire.cancel] $/cancelRequest aborts the signal of its request, also in the same chunk; odd ones are ignored', async () => {
    const aborted: unknown[] = [];
    const slow: Handler = (params, context) =>
      new Promise((resolve) => {
        const stop = (): void => {
          aborted.push(params);
          resolve('stopped');
        };
        if (context.signal.aborted) stop();
        else context.signal.addEventListener('abort', stop);
      });
    const { client, notified } = serve({ slow });
    const odd = [undefined, null, {}, { id: null }, { id: 'other' }, 5].map((params) => ({ method: '$/cancelRequest', params }));
    const lines = [
      { id: 1, method: 'slow', params: 'a' },
      ...odd,
      { id: '1', method: 'slow', params: 'b' },
      { method: '$/cancelRequest', params: { id: 1 } },
    ];
    client.sendRaw(lines.map((m) => `${JSON.stringify(m)}\n`).join(''));
    expect(await client.messages(1)).toEqual([{ id: 1, result: 'stopped' }]);
    client.send({ method: '$/setTrace' });
    client.send({ method: '$/progress' });
    client.send({ method: '$/cancelRequest', params: { id: '1' } });
    expect(await client.messages(2)).toEqual([
      { id: 1, result: 'stopped' },
      { id: '1', result: 'stopped' },
    ]);
    expect([aborted, notified]).toEqual([['a', 'b'], []]);
  });
});

describe('messages that are none', () => {
  it('[wire.malformed] each is answered once, with the id when there is one, and the next request is served', async () => {
    const { client } = serve();
    const problem = (text: string): string => `invalid message: ${text}`;
    const cases: [string, Wire][] = [
      ['[]', error(null, -32600, problem('batches are not supported: send each message on its own'))],
      ['[{"id":1,"method":"echo"}]', error(null, -32600, problem('batches are not supported: send each message on its own'))],
      ['42', error(null, -32600, problem('a message must be an object, got number'))],
      ['null', error(null, -32600, problem('a message must be an object, got null'))],
      ['{"foo":1}', error(null, -32600, problem('a message needs a method, or an id with a result or an error'))],
      ['{"id":true,"method":"echo"}', error(null, -32600, problem('id: expected string or integer, got boolean'))],
      ['{"id":null,"method":"echo"}', error(null, -32600, problem('id: expected string or integer, got null'))],
      ['{"id":"m","method":5}', error('m', -32600, problem('method: expected string, got number'))],
      ['{"id":"n"}', error('n', -32600, problem('a message with an id needs a method, a result or an error'))],
    ];
    for (const [n, [line, answer]] of cases.entries()) {
      client.sendRaw(`${line}\n`);
      client.send({ id: n, method: 'echo' });
      expect((await client.messages(2 * n + 2)).slice(2 * n)).toEqual([answer, { id: n, result: null }]);
    }
  });

  it('[wire.parse-error] a line that is not JSON is answered -32700 with id null', async () => {
    const { client } = serve();
    client.sendRaw('{\nhello\n\n  \n\r\n{"ok"\n');
    const answers = await client.messages(3);
    expect(answers.map((m) => [m['id'], (m['error'] as Wire)['code']])).toEqual(Array(3).fill([null, -32700]));
    expect((answers[1]['error'] as Wire)['message']).toMatch(/^the message is not valid JSON: .*hello/);
    client.send({ id: 1, method: 'echo', params: 'served' });
    expect((await client.messages(4))[3]).toEqual({ id: 1, result: 'served' });
  });

  it('[wire.bad-utf8] a request in bad UTF-8 is refused under its id; nothing that was replaced is served', async () => {
    const { client } = serve();
    const line = (head: string): Buffer => Buffer.concat([Buffer.from(head), Buffer.from([0xff, 0xfe, 0xc3, 0x28]), Buffer.from('"}\n')]);
    client.sendRaw(line('{"id":"u","method":"echo","params":"'));
    client.sendRaw(line('{"method":"note","params":"'));
    expect(await client.messages(2)).toEqual([
      error('u', -32700, 'the message is not valid UTF-8'),
      error(null, -32700, 'the message is not valid UTF-8'),
    ]);
  });

  it('[wire.cap] a message over the limit is refused by name of the limit, and the next is served', async () => {
    const { client } = serve({}, {}, { maxMessageBytes: 1000 });
    client.send({ id: 1, method: 'echo', params: 'x'.repeat(2000) });
    client.send({ id: 2, method: 'echo', params: 'y' });
    expect(await client.messages(2)).toEqual([
      error(null, -32600, 'message too large: the limit is 1000 bytes; it was skipped'),
      { id: 2, result: 'y' },
    ]);
  });

  it('[wire.content-length] header-framed requests are answered header-framed', async () => {
    const { client } = serve();
    const frame = (m: unknown): string => `Content-Length: ${Buffer.byteLength(JSON.stringify(m))}\r\n\r\n${JSON.stringify(m)}`;
    client.sendRaw(frame({ id: 1, method: 'echo', params: 'ü' }) + frame({ id: 2, method: 'echo' }));
    const expected = frame({ id: 1, result: 'ü' }) + frame({ id: 2, result: null });
    await client.until(() => client.text.length >= expected.length, 'two framed answers');
    expect(client.text).toBe(expected);
  });
});

describe('what the server says', () => {
  it('[wire.notify] notifications carry emittedAtMs; those opted out of are not sent, by exact name', async () => {
    const { client, connection } = serve();
    connection.setOptOut(new Set(['item/x', 'bogus', 'item/']));
    const before = Date.now();
    for (const method of ['item/x', 'item/xy', 'item/y']) connection.notify(method, { a: 'a\u2028b\u2029' });
    const seen = await client.messages(2);
    expect(seen.map((m) => [m['method'], m['params']])).toEqual([
      ['item/xy', { a: 'a\u2028b\u2029' }],
      ['item/y', { a: 'a\u2028b\u2029' }],
    ]);
    for (const m of seen) expect(m['emittedAtMs']).toBeGreaterThanOrEqual(before);
    expect(client.text).not.toMatch(/[\u2028\u2029]/);
  });

  it('[wire.responses] answers to our requests are routed raw and at once; unknown ones are ignored', async () => {
    const { client, connection, responses, notified } = serve();
    expect(connection.sendRequest(0, 'ask', { q: 1 })).toBe(true);
    expect(await client.messages(1)).toEqual([{ id: 0, method: 'ask', params: { q: 1 } }]);
    const answers = [
      { id: 0, result: 1 },
      { id: 999, result: {} },
      { id: 998, error: { code: -1, message: 'x' } },
      { id: 'zz', result: null },
      { id: 0 },
    ];
    for (const answer of answers) client.send(answer);
    client.send({ id: null, error: { code: -32700, message: 'parse' } });
    client.send({ method: 'initialized' });
    client.send({ id: 5, method: 'echo' });
    expect((await client.messages(2))[1]).toEqual({ id: 5, result: null });
    expect([responses, notified]).toEqual([answers, [['initialized', undefined]]]);
  });
});

describe('the end', () => {
  it('[wire.eof-flushes] requests received before the end of the input are answered, then the end is told once', async () => {
    const { client, connection, ends, contexts } = serve({ soon: () => tick(20) });
    client.toServer.end(`${[1, 2, 3].map((id) => JSON.stringify({ id, method: id === 2 ? 'soon' : 'echo' })).join('\n')}`);
    await client.until(() => client.received.length > 0, 'an answer');
    await tick();
    expect([ends, contexts.length]).toEqual([[{ type: 'inputEnded' }], 3]);
    expect(await connection.drain(2_000)).toBe(true);
    expect(client.received.map((m) => m['id']).sort()).toEqual([1, 2, 3]);
    expect(contexts.some((context) => context.signal.aborted)).toBe(false);
  });

  it('[wire.drain-deadline] a request that never ends does not hold the drain beyond its deadline', async () => {
    const { client, connection, contexts } = serve({ never: () => new Promise(() => {}) });
    client.send({ id: 1, method: 'never' });
    await tick(10);
    expect(await connection.drain(30)).toBe(false);
    connection.close();
    expect([contexts[0].signal.aborted, await connection.drain(1_000)]).toEqual([true, false]);
  });

  it('[wire.stdout-closed] a reader that goes away ends the connection once; begun work goes on, nothing throws', async () => {
    let finish = (): void => {};
    const after: string[] = [];
    const { client, connection, ends, contexts } = serve({
      slow: (_, context) => {
        context.afterResponse(() => after.push('ran'));
        return new Promise<void>((resolve) => (finish = resolve));
      },
    });
    client.send({ id: 1, method: 'slow' });
    await tick(10);
    client.fromServer.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await tick(10);
    expect(ends).toEqual([{ type: 'outputClosed', reason: 'EPIPE' }]);
    expect([connection.closed, contexts[0].signal.aborted, connection.sendRequest(0, 'ask', {})]).toEqual([true, true, false]);
    connection.notify('x', {});
    client.send({ id: 2, method: 'echo' });
    finish();
    client.toServer.end();
    await tick(10);
    expect([after, ends.length, contexts.length]).toEqual([['ran'], 1, 1]);
  });

  it('[wire.backpressure] a flood of requests makes reading pause, and all of them are answered', async () => {
    const { client } = serve({}, { limits: { maxUndispatched: 16 } });
    const count = 500;
    for (let id = 0; id < count; id++) client.send({ id, method: 'echo', params: id });
    await tick();
    expect(client.toServer.isPaused()).toBe(true);
    expect(await client.messages(count)).toEqual(Array.from({ length: count }, (_, id) => ({ id, result: id })));
    expect(client.toServer.isPaused()).toBe(false);
  });
});
