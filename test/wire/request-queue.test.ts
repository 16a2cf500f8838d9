import { describe, expect, it } from 'vitest';
import { ErrorCode, RpcError } from '../../src/common/errors.ts';
import { RequestQueue } from '../../src/server/request-queue.ts';
import { tick } from './linked.ts';

describe('RequestQueue', () => {
  it('[ingress.order] requests of one thread run one after the other, others beside them', async () => {
    const queue = new RequestQueue();
    const log: string[] = [];
    const job = (name: string, ms: number) => async () => {
      log.push(`+${name}`);
      await tick(ms);
      log.push(`-${name}`);
      return name;
    };
    const results = await Promise.all([
      queue.run('a', job('a1', 30)),
      queue.run('a', job('a2', 0)),
      queue.run('b', job('b1', 1)),
      queue.run(undefined, job('free', 1)),
      queue.run('a', job('a3', 0)),
    ]);
    expect(results).toEqual(['a1', 'a2', 'b1', 'free', 'a3']);
    expect(log.slice(0, 3)).toEqual(['+a1', '+b1', '+free']);
    expect(log.filter((entry) => entry.includes('a'))).toEqual(['+a1', '-a1', '+a2', '-a2', '+a3', '-a3']);
    expect(log.indexOf('-free')).toBeLessThan(log.indexOf('-a1'));
    await tick();
    expect([queue.inFlight, queue.lines]).toEqual([0, 0]);
  });

  it('[ingress.failure] a task that fails, also synchronously, rejects alone and does not stop those behind it', async () => {
    const queue = new RequestQueue();
    const boom = (): never => {
      throw new Error('boom');
    };
    const all = await Promise.allSettled([
      queue.run('a', boom),
      queue.run('a', () => 1),
      queue.run(undefined, boom),
      queue.run('a', async () => boom()),
    ]);
    expect(all.map((r) => (r.status === 'fulfilled' ? r.value : (r.reason as Error).message))).toEqual(['boom', 1, 'boom', 'boom']);
    expect(await queue.run('a', () => 'later')).toBe('later');
    await tick();
    expect([queue.inFlight, queue.lines]).toEqual([0, 0]);
  });

  it('[ingress.bound] beyond the bound a request is refused at once, without running; room made is used again', async () => {
    const queue = new RequestQueue({ maxInFlight: 3 });
    let finish = (): void => {};
    const gate = new Promise<void>((resolve) => (finish = resolve));
    const held = [queue.run('a', () => gate), queue.run('a', () => gate), queue.run(undefined, () => gate)];
    let ran = false;
    const refused = await queue.run('b', () => void (ran = true)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RpcError);
    const { code, message } = refused as RpcError;
    expect({ code, message, ran, inFlight: queue.inFlight }).toEqual({
      code: ErrorCode.overloaded,
      message: 'Server overloaded; retry later.',
      ran: false,
      inFlight: 3,
    });
    finish();
    await Promise.all(held);
    expect(await queue.run('b', () => 'served')).toBe('served');
    expect(() => new RequestQueue({ maxInFlight: 0 })).toThrow('maxInFlight must be a positive integer, got 0');
  });
});
