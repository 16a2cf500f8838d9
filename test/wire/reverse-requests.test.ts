import './quiet.ts';
import { describe, expect, it } from 'vitest';
import { type ReverseOutcome, type ReverseRequest, type ReverseRequestSpec, ReverseRequests } from '../../src/server/reverse-requests.ts';

type Decision = 'accept' | 'decline';

interface Asked {
  registry: ReverseRequests;
  /** What happened, in order. */
  log: string[];
  ask(more?: Partial<ReverseRequestSpec<Decision>>): ReverseRequest<Decision>;
}

function registry(): Asked {
  const reverse = new ReverseRequests();
  const log: string[] = [];
  const ask = (more: Partial<ReverseRequestSpec<Decision>> = {}): ReverseRequest<Decision> => {
    const opened = reverse.open<Decision>({
      threadId: 't1',
      turnId: 'u1',
      method: 'item/commandExecution/requestApproval',
      params: { command: 'ls' },
      parse: (result) => {
        const decision = (result as { decision?: unknown }).decision;
        return decision === 'accept' || decision === 'decline'
          ? { ok: true, value: decision }
          : { ok: false, problem: 'decision: expected accept or decline' };
      },
      send: (id) => void log.push(`sent ${id}`),
      onResolved: (id) => void log.push(`resolved ${id}`),
      ...more,
    });
    void opened.outcome.then((outcome) => log.push(`outcome ${opened.id} ${outcome.type}`));
    return opened;
  };
  return { registry: reverse, log, ask };
}

const accept = { result: { decision: 'accept' } };
const settled = <T>(request: ReverseRequest<T>): Promise<ReverseOutcome<T>> => request.outcome;

describe('ReverseRequests', () => {
  it('[reverse.order] request, answer, resolved, and only then whoever waits goes on', async () => {
    const { registry: reverse, log, ask } = registry();
    const request = ask();
    log.push('answer');
    expect(reverse.settle(request.id, accept)).toBe(true);
    log.push('settled');
    expect(await settled(request)).toEqual({ type: 'answered', value: 'accept' });
    expect(log).toEqual(['sent 0', 'answer', 'resolved 0', 'settled', 'outcome 0 answered']);
  });

  it('[reverse.ids] ids are whole numbers from 0, never used twice, and compared exactly', async () => {
    const { registry: reverse, ask } = registry();
    const first = ask();
    expect(reverse.settle('0', accept)).toBe(false);
    reverse.settle(0, accept);
    const second = ask();
    expect([first.id, second.id, reverse.size]).toEqual([0, 1, 1]);
    expect(reverse.settle(0, accept)).toBe(false);
    second.cancel('end');
  });

  it('[reverse.by-id] with several pending each answer settles its own', async () => {
    const { registry: reverse, ask } = registry();
    const [a, b, c] = [ask(), ask(), ask()];
    reverse.settle(b.id, { result: { decision: 'decline' } });
    reverse.settle(c.id, accept);
    reverse.settle(a.id, accept);
    expect(await Promise.all([a, b, c].map(settled))).toEqual([
      { type: 'answered', value: 'accept' },
      { type: 'answered', value: 'decline' },
      { type: 'answered', value: 'accept' },
    ]);
  });

  it('[reverse.first-wins] later, repeated and unknown answers change nothing', async () => {
    const { registry: reverse, log, ask } = registry();
    const request = ask();
    const results = [
      reverse.settle(request.id, { result: { decision: 'decline' } }),
      reverse.settle(request.id, accept),
      reverse.settle(999, accept),
      request.cancel('late'),
    ];
    expect(results).toEqual([true, false, false, false]);
    expect(await settled(request)).toEqual({ type: 'answered', value: 'decline' });
    expect(log.filter((entry) => entry.startsWith('resolved'))).toEqual(['resolved 0']);
  });

  it('[reverse.malformed] an answer that is none is no consent, and says what was wrong', async () => {
    const { registry: reverse, ask } = registry();
    const answers: [object, string][] = [
      [{ result: { decision: 'bogus' } }, 'decision: expected accept or decline'],
      [{ result: {} }, 'decision: expected accept or decline'],
      [{ result: null }, "Cannot read properties of null (reading 'decision')"],
      [{ result: { decision: 'accept' }, error: { code: 1, message: 'x' } }, 'the answer has both a result and an error'],
      [{}, 'the answer has neither a result nor an error'],
      [{ error: 'no' }, 'error: expected {code, message}'],
      [{ error: { message: 'no code' } }, 'error: expected {code, message}'],
    ];
    for (const [answer, problem] of answers) {
      const request = ask();
      reverse.settle(request.id, answer);
      expect(await settled(request)).toEqual({ type: 'malformed', problem });
    }
  });

  it('[reverse.client-error] "cannot answer" is told apart from a failure of the client and from a refusal', async () => {
    const { registry: reverse, ask } = registry();
    const [unsupported, failed, silent] = [ask(), ask(), ask()];
    reverse.settle(unsupported.id, { error: { code: -32601, message: 'Method not found' } });
    reverse.settle(failed.id, { error: { code: -32000, message: 'window closed' } });
    reverse.settle(silent.id, { error: { code: 5 } });
    const outcomes = await Promise.all([unsupported, failed, silent].map(settled));
    expect(outcomes).toEqual([
      { type: 'unsupported', message: 'Method not found' },
      { type: 'clientError', code: -32000, message: 'window closed' },
      { type: 'clientError', code: 5, message: '' },
    ]);
  });

  it('[reverse.cancel] interrupt, end of turn and disconnect settle what they concern; a late accept runs nothing', async () => {
    const { registry: reverse, log, ask } = registry();
    const requests = [ask(), ask({ turnId: 'u2' }), ask({ threadId: 't2', turnId: 'u3' }), ask({ turnId: null })];
    expect(reverse.cancelAll((r) => r.threadId === 't1' && r.turnId === 'u1', 'the turn was interrupted')).toBe(1);
    expect(reverse.settle(0, accept)).toBe(false);
    expect(reverse.cancelAll(() => true, 'the client is gone')).toBe(3);
    expect(await Promise.all(requests.map(settled))).toEqual([
      { type: 'cancelled', reason: 'the turn was interrupted' },
      ...Array(3).fill({ type: 'cancelled', reason: 'the client is gone' }),
    ]);
    expect([reverse.size, log.filter((entry) => entry.startsWith('resolved'))]).toEqual([
      0,
      ['resolved 0', 'resolved 1', 'resolved 2', 'resolved 3'],
    ]);
  });

  it('[reverse.answer-beats-close] an answer that came before the disconnect in the same turn of the loop wins', async () => {
    const { registry: reverse, ask } = registry();
    const request = ask();
    reverse.settle(request.id, accept);
    expect(reverse.cancelAll(() => true, 'the client is gone')).toBe(0);
    expect(await settled(request)).toEqual({ type: 'answered', value: 'accept' });
  });

  it('[reverse.replay] what waits in a thread can be asked again under the same ids, in order, and is settled once', async () => {
    const { registry: reverse, log, ask } = registry();
    const a = ask({ params: { n: 1 } });
    ask({ threadId: 't2' });
    const b = ask({ params: { n: 2 }, method: 'item/tool/call' });
    expect(reverse.pendingOf('t1')).toEqual([
      { id: 0, threadId: 't1', turnId: 'u1', method: 'item/commandExecution/requestApproval', params: { n: 1 } },
      { id: 2, threadId: 't1', turnId: 'u1', method: 'item/tool/call', params: { n: 2 } },
    ]);
    reverse.settle(a.id, accept);
    reverse.settle(a.id, accept);
    expect(reverse.pendingOf('t1').map((r) => r.id)).toEqual([b.id]);
    expect(reverse.pendingOf('nobody')).toEqual([]);
    await settled(a);
    expect(log.filter((entry) => entry.includes(' 0'))).toEqual(['sent 0', 'resolved 0', 'outcome 0 answered']);
    reverse.cancelAll(() => true, 'end');
  });

  it('[reverse.reentrant] settling from inside a settlement, or answering while asking, is safe', async () => {
    const { registry: reverse, log, ask } = registry();
    const instant = ask({ send: (id) => void reverse.settle(id, accept) });
    const chained = ask({
      onResolved: (id) => void log.push(`resolved ${id} again ${reverse.settle(id, accept)} all ${reverse.cancelAll(() => true, 'x')}`),
    });
    const other = ask();
    reverse.settle(chained.id, { result: { decision: 'decline' } });
    expect(await Promise.all([instant, chained, other].map(settled))).toEqual([
      { type: 'answered', value: 'accept' },
      { type: 'answered', value: 'decline' },
      { type: 'cancelled', reason: 'x' },
    ]);
    expect(log).toContain('resolved 1 again false all 1');
  });

  it('[reverse.broken-ports] a send or a callback that throws ends in an outcome, never in a hang', async () => {
    const { registry: reverse, log, ask } = registry();
    const boom = (): never => {
      throw new Error('boom');
    };
    expect(await settled(ask({ send: boom }))).toEqual({ type: 'cancelled', reason: 'the request could not be sent: boom' });
    const request = ask({ onResolved: boom });
    reverse.settle(request.id, accept);
    expect(await settled(request)).toEqual({ type: 'answered', value: 'accept' });
    expect([reverse.size, log[0]]).toEqual([0, 'resolved 0']);
  });

  it('[reverse.independent] a question in one thread that is never answered delays none in another', async () => {
    const { registry: reverse, ask } = registry();
    const never = ask({ threadId: 'slow' });
    for (let n = 0; n < 100; n++) {
      const request = ask({ threadId: 'quick' });
      reverse.settle(request.id, accept);
      expect(await settled(request)).toEqual({ type: 'answered', value: 'accept' });
    }
    expect(reverse.pendingOf('slow').map((r) => r.id)).toEqual([never.id]);
    never.cancel('end');
  });
});
