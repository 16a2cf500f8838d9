// The log goes to stderr, asynchronously: a stalled stderr must never block a turn. stdout belongs to the protocol.
import pino from 'pino';

export type Logger = pino.Logger;

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** Level from HARNESSD_LOG (default warn); an unknown level falls back to warn. */
function levelFromEnvironment(): string {
  const wanted = process.env.HARNESSD_LOG?.toLowerCase() ?? 'warn';
  return LEVELS.includes(wanted) ? wanted : 'warn';
}

let root: Logger | undefined;

export function logger(): Logger {
  root ??= pino(
    { level: levelFromEnvironment(), base: undefined, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: false }),
  );
  return root;
}
