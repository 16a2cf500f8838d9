// Errors about params name the field, what is expected and what came.
import { describe, expect, it } from 'vitest';
import { type ClientRequestMethod, clientRequests } from '../../src/protocol/methods.ts';
import { paramsError } from '../../src/server/param-errors.ts';

const problemOf = (method: ClientRequestMethod, params: unknown): string => {
  const read = clientRequests[method].params().safeParse(params);
  if (read.success) throw new Error('the params fit');
  return paramsError(read.error, params).message;
};

describe('params errors', () => {
  it.each<[ClientRequestMethod, unknown, string]>([
    ['turn/start', { threadId: 5, input: [] }, 'params.threadId: expected string, got number'],
    ['turn/start', { input: [] }, 'params.threadId: expected string, got nothing'],
    ['turn/start', { threadId: 'x' }, 'params.input: expected array, got nothing'],
    ['turn/start', { threadId: 'x', input: [{ type: 'text', text: 3 }] }, 'params.input[0].text: expected string, got number'],
    ['turn/start', { threadId: 'x', input: [{ type: 'bogus' }] }, 'params.input[0].type: expected a known type, got "bogus"'],
    ['thread/start', { cwd: 7 }, 'params.cwd: expected string, got number'],
    ['thread/list', { limit: 'many' }, 'params.limit: expected number, got string'],
    ['thread/list', { limit: -1 }, 'params.limit: expected at least 0, got number -1'],
    [
      'thread/start',
      { sandbox: 'bogus' },
      'params.sandbox: expected one of "read-only", "workspace-write", "danger-full-access", got "bogus"',
    ],
    ['thread/start', [], 'params: expected object, got array'],
  ])('[params.named] %s %j', (method, params, message) => {
    expect(problemOf(method, params)).toBe(message);
  });
});
