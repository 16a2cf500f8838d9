// What a hook prints, as a verdict: every form, and everything that is none.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPrinted, readReturned } from '../../src/hooks/answer.ts';
import { HOOK_EVENT_NAMES, type HookEvent } from '../../src/hooks/hook-event.ts';

const printed = (event: HookEvent, stdout: unknown, code = 0, stderr = '') =>
  readPrinted(event, { code, stdout: typeof stdout === 'string' ? stdout : JSON.stringify(stdout), stderr, truncated: false });
const specific = (hookEventName: HookEvent, fields: object) => ({ hookSpecificOutput: { hookEventName, ...fields } });
const silent = { verdict: { type: 'none' }, context: null, message: null };
const ok = (answer: object) => ({ ok: true, answer: { ...silent, ...answer } });
const block = (reason: string) => ok({ verdict: { type: 'block', reason } });

describe('answers of hooks', () => {
  it('[hooks.answer] each form means what it says', () => {
    expect(printed('PreToolUse', '')).toEqual(ok({}));
    expect(printed('PreToolUse', 'some text')).toEqual(ok({}));
    expect(printed('PreToolUse', '', 2, 'no\n')).toEqual(block('no'));
    expect(printed('PreToolUse', 'said here', 2)).toEqual(block('said here'));
    expect(printed('PreToolUse', '', 2)).toEqual(block('the hook gave no reason'));
    expect(printed('PreToolUse', { decision: 'block', reason: 'r' })).toEqual(block('r'));
    expect(printed('PreToolUse', { decision: 'approve' })).toEqual(ok({}));
    expect(printed('PreToolUse', specific('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: 'd' }))).toEqual(
      block('d'),
    );
    expect(printed('PreToolUse', specific('PreToolUse', { permissionDecision: 'allow', updatedInput: { a: 1 } }))).toEqual(
      ok({ verdict: { type: 'allow' }, rewrite: { input: { a: 1 } } }),
    );
    expect(printed('PreToolUse', { continue: false, stopReason: 's' })).toEqual(ok({ verdict: { type: 'stop', reason: 's' } }));
    expect(printed('PreToolUse', { systemMessage: 'm', ...specific('PreToolUse', { additionalContext: 'c' }) })).toEqual(
      ok({ context: 'c', message: 'm' }),
    );
    expect(printed('PermissionRequest', specific('PermissionRequest', { decision: { behavior: 'allow' } }))).toEqual(
      ok({ verdict: { type: 'allow' } }),
    );
    expect(printed('PermissionRequest', specific('PermissionRequest', { decision: { behavior: 'deny', message: 'p' } }))).toEqual(
      block('p'),
    );
    expect(printed('PostToolUse', specific('PostToolUse', { updatedToolOutput: { rows: 2 } }))).toEqual(ok({ replacement: '{"rows":2}' }));
    expect(printed('SessionStart', ' hello \n')).toEqual(ok({ context: 'hello' }));
    expect(printed('UserPromptSubmit', '[not json]')).toEqual(ok({ context: '[not json]' }));
  });

  it('[hooks.answer.ask] a wish that somebody be asked is never taken as a yes', () => {
    const read = printed('PreToolUse', specific('PreToolUse', { permissionDecision: 'ask', permissionDecisionReason: 'risky' }));
    expect(read).toMatchObject({ ok: true, answer: { verdict: { type: 'block', reason: expect.stringMatching(/^risky /) } } });
  });

  it('[hooks.answer.garbage] what cannot be understood is a failure that names the problem', () => {
    const problem = (event: HookEvent, stdout: unknown, code = 0, stderr = '') => {
      const read = printed(event, stdout, code, stderr);
      return read.ok ? 'understood' : read.problem;
    };
    expect(problem('PreToolUse', '{"bad":')).toMatch(/begins like JSON and is not: \{"bad":$/);
    expect(problem('PreToolUse', '', 1, 'boom')).toBe('it exited with code 1: boom');
    expect(problem('PreToolUse', '', 127)).toBe('it exited with code 127');
    expect(problem('PreToolUse', { permisionDecision: 'deny' })).toMatch(/permisionDecision/);
    expect(problem('PreToolUse', { decision: 'deny' })).toMatch(/decision/);
    expect(problem('PreToolUse', specific('PostToolUse', {}))).toMatch(/for the event "PostToolUse", and this is PreToolUse/);
    expect(problem('PreToolUse', specific('PreToolUse', { permissionDecision: 'maybe' }))).toMatch(/permissionDecision/);
    expect(problem('Interrupt', '', 2, 'no')).toBe('it exited with code 2: no');
    expect(problem('PostCompact', { continue: false })).toMatch(/has no meaning for PostCompact/);
    const cut = readPrinted('PreToolUse', { code: 0, stdout: '{"decision":"block"', stderr: '', truncated: true });
    expect(cut).toEqual({ ok: false, problem: 'it printed more than is read of a hook, so its answer is cut off' });
  });

  it('[hooks.answer.total] any output of any exit code is read without a throw, and exit code 2 of a guard always refuses', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...HOOK_EVENT_NAMES),
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.object().map((value) => JSON.stringify(value)),
        ),
        fc.string(),
        fc.integer({ min: 0, max: 255 }),
        fc.boolean(),
        (event, stdout, stderr, code, truncated) => {
          const read = readPrinted(event, { code, stdout, stderr, truncated });
          if (event === 'PreToolUse' && code === 2) expect(read).toMatchObject({ ok: true, answer: { verdict: { type: 'block' } } });
          else if (code !== 0) expect(read.ok).toBe(code === 2 && read.ok);
        },
      ),
    );
  });

  it('[hooks.answer.function] a function gives nothing, a text or an answer', () => {
    expect(readReturned('PreToolUse', undefined)).toEqual(ok({}));
    expect(readReturned('SessionStart', 'text')).toEqual(ok({ context: 'text' }));
    expect(readReturned('PreToolUse', { decision: 'block', reason: 'r' })).toEqual(block('r'));
    expect(readReturned('PreToolUse', 5)).toMatchObject({ ok: false });
  });
});
