// MCP servers as processes of the daemon's own runner: each in its group, ended with everything it started.
import type { ProcessOutcome, ProcessRunner } from '../exec/process.ts';
import type { ProcessPort } from '../mcp/process-port.ts';

const GRACE_MS = 1_000;

function reasonOf(outcome: ProcessOutcome): string {
  switch (outcome.type) {
    case 'exited':
      return `the server exited with code ${outcome.exitCode}`;
    case 'signalled':
      return `the server was ended by ${outcome.signal}`;
    case 'timedOut':
    case 'cancelled':
      return 'the server was stopped';
    case 'failedToStart':
      return outcome.reason;
  }
}

export const mcpProcesses = (runner: ProcessRunner): ProcessPort => ({
  start: ({ argv, cwd, env }) => {
    const process = runner.start({ argv, cwd, env, tty: false, stdin: 'open' });
    return {
      exited: process.exited.then(reasonOf),
      onOutput: (listener) => process.onOutput(({ stream, bytes }) => listener(stream === 'stderr' ? 'stderr' : 'stdout', bytes)),
      write: (text) => process.write(text),
      end: () => {
        process.closeStdin();
        return process.terminate(GRACE_MS);
      },
    };
  },
});
