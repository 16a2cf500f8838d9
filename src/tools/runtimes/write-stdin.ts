// write_stdin: writes to a running command, or looks at what it printed since. It makes no item: the command has one.
import type { ProcessOutcome } from '../../exec/process.ts';
import { type ExecSession, exitCodeOf, type SessionLookup } from '../../exec/sessions.ts';
import { envelope, outputBudget, type Standing } from '../exec/envelope.ts';
import type { ExecHost } from '../exec/host.ts';
import { readFunctionPayload } from '../gates/validate.ts';
import { failedOutput, type ToolOutput, textOutput } from '../result.ts';
import type { Invocation, ToolRuntime } from '../runtime.ts';

const MIN_WAIT_MS = 250;
const MAX_WAIT_MS = 300_000;
/** A look without a write waits longer: the command has had nothing new to react to. */
const POLL_WAIT_MS = 10_000;
const WRITE_WAIT_MS = 1_000;

const parameters = {
  type: 'object',
  properties: {
    session_id: { type: 'number', description: 'The session id that exec_command gave.' },
    chars: { type: 'string', description: 'What to write; empty or absent: only wait for output. \\u0003 is Ctrl-C.' },
    yield_time_ms: { type: 'number', minimum: 0, description: `How long to wait for the end (${MIN_WAIT_MS} to ${MAX_WAIT_MS}).` },
    max_output_tokens: { type: 'number', minimum: 0, description: 'Budget for the output (default and most: 10000).' },
  },
  required: ['session_id'],
} as const;

interface Args {
  session_id: number;
  chars?: string;
  yield_time_ms?: number;
  max_output_tokens?: number;
}

const liveText = (ids: readonly number[]): string => (ids.length ? `Running sessions: ${ids.join(', ')}.` : 'No session is running.');

function notFound(id: number, lookup: Exclude<SessionLookup, { type: 'found' }>): ToolOutput {
  if (lookup.type === 'ended') {
    return failedOutput(
      'not_found',
      `write_stdin failed: session ${id} has ended: its command exited with code ${lookup.exitCode}, and its output was given. ${liveText(lookup.liveIds)}`,
    );
  }
  return failedOutput(
    'not_found',
    `write_stdin failed: there is no session ${id}. ${liveText(lookup.liveIds)} Start a command with exec_command.`,
  );
}

function waitFor(args: Args, most: number): number {
  const wanted = args.yield_time_ms ?? (args.chars ? WRITE_WAIT_MS : POLL_WAIT_MS);
  return Math.min(most, Math.max(MIN_WAIT_MS, wanted));
}

async function interact(host: ExecHost, { args, events }: Invocation<Args>, signal: AbortSignal): Promise<ToolOutput> {
  const lookup = host.sessions.find(args.session_id);
  if (lookup.type !== 'found') return notFound(args.session_id, lookup);
  const { session } = lookup;
  if (args.chars && !session.outcome) {
    if (!session.tty)
      return failedOutput(
        'tool_error',
        `Session ${session.id} has no open stdin: its command was started without a terminal. Start it with tty: true to write to it; an empty write only waits.`,
      );
    session.process.write(args.chars);
    events.terminalInteraction(session.itemId, String(session.id), args.chars);
  }
  const state = await session.waitForYield(waitFor(args, host.longestWaitMs ?? MAX_WAIT_MS), signal);
  if (state === 'aborted')
    return failedOutput('cancelled', `aborted by user: the wait for session ${session.id} was ended; its command goes on.`);
  return report(host, session, args);
}

function report(host: ExecHost, session: ExecSession, args: Args): ToolOutput {
  const output = session.takeNewOutput();
  const outcome: ProcessOutcome | undefined = session.outcome;
  const standing: Standing = outcome ? { type: 'exited', exitCode: exitCodeOf(outcome) } : { type: 'running', sessionId: session.id };
  if (outcome) host.sessions.forget(session.id);
  const artifact = session.output.spilled ? host.spillPath(session.itemId) : null;
  const text = envelope({ wallMs: session.durationMs, standing, output, maxTokens: outputBudget(args.max_output_tokens), artifact });
  return outcome && exitCodeOf(outcome) !== 0 ? failedOutput('tool_error', text) : textOutput(text);
}

export function writeStdin(host: ExecHost): ToolRuntime<Args> {
  return {
    name: { name: 'write_stdin' },
    spec: {
      type: 'function',
      name: 'write_stdin',
      description: 'Writes to a running session of exec_command, or waits for its output, and returns what is new.',
      parameters,
      strict: false,
    },
    exposure: 'direct',
    source: { type: 'builtin' },
    supportsParallel: true,
    waitsForCleanup: true,
    external: false,
    audience: 'reviewer',
    validate: (payload) => readFunctionPayload<Args>('write_stdin', payload, parameters),
    run: (invocation, signal) => interact(host, invocation, signal),
  };
}
