import { describe, expect, it } from 'vitest';
import { classify, usableId } from '../../src/protocol/jsonrpc.ts';

const invalid = (id: string | number | null, problem: string) => ({ type: 'invalid', id, problem });

describe('classify', () => {
  it('[wire.classify.call] a method with an id is a request, without one a notification; params may be anything', () => {
    expect(classify({ id: 1, method: 'a/b', params: { x: 1 } })).toEqual({ type: 'request', id: 1, method: 'a/b', params: { x: 1 } });
    expect(classify({ jsonrpc: '2.0', id: '', method: 'a' })).toEqual({ type: 'request', id: '', method: 'a', params: undefined });
    expect(classify({ id: -7, method: 'a', params: null })).toEqual({ type: 'request', id: -7, method: 'a', params: null });
    expect(classify({ method: 'a', params: [1] })).toEqual({ type: 'notification', method: 'a', params: [1] });
    expect(classify({ id: 1, method: 'a', result: {}, error: null })).toEqual({ type: 'request', id: 1, method: 'a', params: undefined });
  });

  it('[wire.classify.response] an id without a method is a response; absent members stay absent, null counts as absent beside the other', () => {
    expect(classify({ id: 0, result: null })).toEqual({ type: 'response', message: { id: 0, result: null } });
    expect(classify({ id: 0, result: {}, error: null })).toEqual({ type: 'response', message: { id: 0, result: {} } });
    expect(classify({ id: 0, result: null, error: { code: 1 } })).toEqual({ type: 'response', message: { id: 0, error: { code: 1 } } });
    expect(classify({ id: 0, result: 1, error: 'x' })).toEqual({ type: 'response', message: { id: 0, result: 1, error: 'x' } });
    expect(classify({ id: 'n' })).toEqual({ type: 'response', message: { id: 'n' } });
    expect(classify({ id: 0, method: null, result: 1 })).toEqual({ type: 'response', message: { id: 0, result: 1 } });
  });

  it('[wire.classify.orphan] an error about a message without id is never answered', () => {
    expect(classify({ id: null, error: { code: -32700 } })).toEqual({ type: 'orphan', error: { code: -32700 } });
  });

  it('[wire.classify.invalid] what is no message names its problem and keeps an id that can be echoed', () => {
    const batch = invalid(null, 'batches are not supported: send each message on its own');
    expect(classify([])).toEqual(batch);
    expect(classify([{ id: 1, method: 'a' }])).toEqual(batch);
    expect(classify(42)).toEqual(invalid(null, 'a message must be an object, got number'));
    expect(classify(null)).toEqual(invalid(null, 'a message must be an object, got null'));
    expect(classify('x')).toEqual(invalid(null, 'a message must be an object, got string'));
    expect(classify({ foo: 1 })).toEqual(invalid(null, 'a message needs a method, or an id with a result or an error'));
    expect(classify({ id: true, method: 'a' })).toEqual(invalid(null, 'id: expected string or integer, got boolean'));
    expect(classify({ id: { a: 1 }, method: 'a' })).toEqual(invalid(null, 'id: expected string or integer, got object'));
    expect(classify({ id: null, method: 'a' })).toEqual(invalid(null, 'id: expected string or integer, got null'));
    expect(classify({ id: 1.5, method: 'a' })).toEqual(invalid(null, 'id: expected string or integer, got a fraction'));
    expect(classify({ id: 2 ** 60, method: 'a' })).toEqual(invalid(null, 'id: expected string or integer, got a number beyond 2^53'));
    expect(classify({ id: [], result: 1 })).toEqual(invalid(null, 'id: expected string or integer, got array'));
    expect(classify({ id: 'm', method: 5, params: {} })).toEqual(invalid('m', 'method: expected string, got number'));
    expect(classify(JSON.parse('{"__proto__":{"id":1,"method":"a"}}'))).toEqual(
      invalid(null, 'a message needs a method, or an id with a result or an error'),
    );
  });

  it('[wire.classify.id] an id is usable when it comes back exactly as it was', () => {
    expect([{ id: 1 }, { id: 'a' }, { id: 0.5 }, { id: null }, [1], 7, null].map(usableId)).toEqual([1, 'a', null, null, null, null, null]);
  });
});
