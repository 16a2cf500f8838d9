import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { OmittedOutput } from '../../src/server/outgoing-delta.ts';
import { OutgoingQueue, type OutgoingQueueOptions } from '../../src/server/outgoing-queue.ts';
import { tick, type Wire } from './linked.ts';

/** A reader that takes nothing until it is let go. */
class SlowReader extends Writable {
  readonly writes: string[] = [];
  readonly #held: (() => void)[] = [];
  #open = false;

  constructor() {
    super({ highWaterMark: 16, decodeStrings: false });
  }

  override _write(chunk: string, _encoding: string, callback: () => void): void {
    this.writes.push(chunk);
    if (this.#open) callback();
    else this.#held.push(callback);
  }

  release(): void {
    this.#open = true;
    for (const callback of this.#held.splice(0)) callback();
  }

  messages(): Wire[] {
    return this.writes
      .join('')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Wire);
  }
}

function slow(options: Partial<OutgoingQueueOptions> = {}) {
  const stream = new SlowReader();
  const closed: string[] = [];
  const queue = new OutgoingQueue(stream, { encode: (json) => `${json}\n`, onClosed: (reason) => void closed.push(reason), ...options });
  return { stream, closed, queue };
}

const text = (itemId: string, delta: string) => ({
  method: 'item/commandExecution/outputDelta',
  params: { threadId: 't', turnId: 'u', itemId, delta },
});
const bytes = (delta: string, more: object = {}) => ({
  method: 'process/outputDelta',
  params: { processHandle: 'p', stream: 'stdout', deltaBase64: Buffer.from(delta).toString('base64'), capReached: false, ...more },
});
const progress = (message: string) => ({
  method: 'item/mcpToolCall/progress',
  params: { threadId: 't', turnId: 'u', itemId: 'm', message },
});
const lossless = (n: number) => ({ method: 'item/agentMessage/delta', params: { threadId: 't', itemId: 'a', delta: `${n}` } });

/** Fills the stream, so that what follows has to wait. */
async function block({ queue }: { queue: OutgoingQueue }): Promise<object> {
  const first = { id: 0, result: 'fills the stream' };
  queue.send(first);
  await tick();
  return first;
}

describe('OutgoingQueue', () => {
  it('[egress.batch] what is said in one turn of the loop is one write, in order, each message on its line', async () => {
    const { stream, queue } = slow();
    for (let n = 0; n < 100; n++) queue.send(lossless(n));
    queue.sendText('{"ready":"\u2028"}');
    await tick();
    expect(stream.writes).toEqual([
      `${Array.from({ length: 100 }, (_, n) => JSON.stringify(lossless(n))).join('\n')}\n{"ready":"\\u2028"}\n`,
    ]);
  });

  it('[egress.lossless] a slow reader gets every lossless message in order; a fast one gets output deltas as they were', async () => {
    const side = slow();
    const first = await block(side);
    for (let n = 0; n < 5_000; n++) side.queue.send(lossless(n));
    expect(side.stream.writes.length).toBe(1);
    side.stream.release();
    expect(await side.queue.flush(5_000)).toBe(true);
    expect(side.stream.messages()).toEqual([first, ...Array.from({ length: 5_000 }, (_, n) => lossless(n))]);
    const fast = slow();
    fast.stream.release();
    fast.queue.send(text('i', 'a'));
    fast.queue.send(text('i', 'b'));
    expect(await fast.queue.flush(1_000)).toBe(true);
    expect(fast.stream.messages()).toEqual([text('i', 'a'), text('i', 'b')]);
  });

  it('[egress.merge] waiting output of one stream becomes one message; nothing lossless is overtaken; other members are the newest', async () => {
    const side = slow();
    const first = await block(side);
    const { queue, stream } = side;
    queue.send({ ...text('i', 'one '), emittedAtMs: 1 });
    queue.send(text('j', 'other '));
    queue.send({ ...text('i', 'two '), emittedAtMs: 2 });
    queue.send(text('j', 'item'));
    queue.send(lossless(1));
    queue.send(text('i', 'after'));
    queue.send(bytes('a\u00e9'));
    queue.send(bytes('\ud83d\ude00z', { capReached: true }));
    queue.send(bytes('err', { stream: 'stderr' }));
    queue.send(progress('10 %'));
    queue.send(progress('20 %'));
    queue.send({ id: 1, result: {} });
    stream.release();
    expect(await queue.flush(1_000)).toBe(true);
    expect(stream.messages()).toEqual([
      first,
      { ...text('i', 'one two '), emittedAtMs: 2 },
      text('j', 'other item'),
      lossless(1),
      text('i', 'after'),
      bytes('a\u00e9\ud83d\ude00z', { capReached: true }),
      bytes('err', { stream: 'stderr' }),
      progress('20 %'),
      { id: 1, result: {} },
    ]);
  });

  it('[egress.odd-delta] what only looks like output is lossless: a request of that name, a missing or odd piece', async () => {
    const side = slow();
    const first = await block(side);
    const odd = [
      { id: 7, ...text('i', 'a') },
      { method: 'item/commandExecution/outputDelta' },
      { method: 'item/commandExecution/outputDelta', params: { itemId: 'i', delta: 5 } },
      { method: 'constructor', params: {} },
    ];
    for (const message of [...odd, ...odd]) side.queue.send(message);
    side.stream.release();
    await side.queue.flush(1_000);
    expect(side.stream.messages()).toEqual([first, ...odd, ...odd]);
  });

  it('[egress.thin] output that a stalled reader piles up is bounded: head and tail stay, the gap is counted and told', async () => {
    const omitted: OmittedOutput[] = [];
    const side = slow({ maxDeltaLength: 1_000, onOmitted: (o) => void omitted.push(o) });
    await block(side);
    for (let n = 0; n < 10_000; n++) side.queue.send(text('i', `${String(n).padStart(9, '0')}\n`));
    expect(side.queue.waitingBytes).toBeLessThan(2_000);
    side.stream.release();
    await side.queue.flush(1_000);
    const delta = String((side.stream.messages()[1]['params'] as Wire)['delta']);
    const lines = delta.split('\n');
    expect([lines[0], lines[49], lines[51], lines[52], lines[53], lines.at(-2)]).toEqual([
      '000000000',
      '000000049',
      '[… 99000 characters of output left out: the client reads too slowly …]',
      '000009950',
      '000009951',
      '000009999',
    ]);
    expect(omitted).toEqual([
      { method: 'item/commandExecution/outputDelta', params: { threadId: 't', turnId: 'u', itemId: 'i' }, length: 99_000 },
    ]);
  });

  it('[egress.thin-binary] a gap in a binary stream sets its cap flag', async () => {
    const side = slow({ maxDeltaLength: 16 });
    await block(side);
    for (const piece of ['aaaaaa', 'bbbbbb', 'cccccc', 'dddddd']) side.queue.send(bytes(piece));
    side.stream.release();
    await side.queue.flush(1_000);
    expect(side.stream.messages()[1]).toEqual(bytes('aaaaaadddddd', { capReached: true }));
  });

  it('[egress.bound] more waiting than the bound gives the connection up, once, with the reason', async () => {
    const side = slow({ maxWaitingBytes: 10_000 });
    await block(side);
    for (let n = 0; n < 1_000; n++) side.queue.send(lossless(n));
    expect(side.closed).toEqual([expect.stringMatching(/^the client reads too slowly: 10\d{3} bytes wait, the limit is 10000$/)]);
    expect(await side.queue.flush(1_000)).toBe(false);
    side.stream.release();
    await tick();
    expect(side.stream.messages().length).toBe(1);
  });

  it('[egress.flush] flush is true when all has left, false at its deadline', async () => {
    const side = slow();
    expect(await side.queue.flush(0)).toBe(true);
    side.queue.send(lossless(1));
    expect(await side.queue.flush(20)).toBe(false);
    const later = side.queue.flush(5_000);
    side.stream.release();
    expect(await later).toBe(true);
    expect(side.queue.waitingBytes).toBe(0);
  });

  it('[egress.closed] a broken pipe is told once and quietly; flush ends at once; later messages go nowhere', async () => {
    const stream = new PassThrough();
    const closed: string[] = [];
    const queue = new OutgoingQueue(stream, { encode: (json) => `${json}\n`, onClosed: (reason) => void closed.push(reason) });
    queue.send(lossless(1));
    const flushed = queue.flush(5_000);
    stream.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    for (let n = 0; n < 3; n++) {
      queue.send(lossless(n));
      await tick();
    }
    expect([closed, await flushed, await queue.flush(5_000), queue.closed]).toEqual([
      ['EPIPE'],
      expect.any(Boolean),
      expect.any(Boolean),
      true,
    ]);
    const gone = new PassThrough();
    const reasons: string[] = [];
    const late = new OutgoingQueue(gone, { encode: (json) => `${json}\n`, onClosed: (reason) => void reasons.push(reason) });
    gone.destroy();
    await tick();
    late.send(lossless(1));
    expect(reasons).toEqual(['the stream was closed']);
  });
});
