// What a model reads of a command: how it stands, what it cost, and its new output, head and tail, with exact counts of what was left out.
import { randomBytes } from 'node:crypto';
import { BYTES_PER_TOKEN, tokensOf } from '../../common/bound-text.ts';
import { utf8HeadLength, utf8TailStart } from '../../common/text.ts';

export const DEFAULT_OUTPUT_TOKENS = 10_000;
export const MAX_OUTPUT_TOKENS = 10_000;

export interface ReadOutput {
  text: string;
  /** Bytes missing from the middle of the text already, where it says so itself. */
  omittedBytes: number;
  lines: number;
  /** Some of it is not text. */
  binary?: true;
}

export type Standing =
  | { type: 'exited'; exitCode: number }
  | { type: 'running'; sessionId: number }
  | { type: 'timedOut'; afterMs: number };

/** Cuts what is new to a budget. The count is of all that is missing, also of what an earlier cut took. */
export function cutOutput(output: ReadOutput, maxTokens: number): { text: string; cut: boolean; totalBytes: number } {
  const bytes = Buffer.from(output.text);
  const marker = output.omittedBytes > 0 ? Buffer.byteLength(`\n... ${output.omittedBytes} bytes omitted ...\n`) : 0;
  const totalBytes = bytes.length - marker + output.omittedBytes;
  const budget = Math.max(0, Math.floor(maxTokens)) * BYTES_PER_TOKEN;
  if (bytes.length <= budget) return { text: output.text, cut: output.omittedBytes > 0, totalBytes };
  const head = utf8HeadLength(bytes, budget >> 1);
  const tail = utf8TailStart(bytes, budget - (budget >> 1));
  const kept = head + (bytes.length - tail);
  const missing = Math.max(1, Math.round((totalBytes - kept) / BYTES_PER_TOKEN));
  return { text: `${bytes.toString('utf8', 0, head)}…${missing} tokens truncated…${bytes.toString('utf8', tail)}`, cut: true, totalBytes };
}

function standingLine(standing: Standing): string {
  switch (standing.type) {
    case 'exited':
      return `Process exited with code ${standing.exitCode}`;
    case 'running':
      return `Process running with session ID ${standing.sessionId}`;
    case 'timedOut':
      return `Process was ended: it ran over its limit of ${standing.afterMs} ms (exit code 124)`;
  }
}

export interface EnvelopeInput {
  wallMs: number;
  standing: Standing;
  output: ReadOutput;
  maxTokens: number;
  /** The file that holds the whole, when the output was cut. */
  artifact: string | null;
  /** A hint after the output (a denial by the sandbox). */
  hint?: string;
}

const NOT_TEXT =
  'Not all of the output is text: it holds NUL bytes or bytes that are not UTF-8 (those are shown as \ufffd). Look at them with od -c or file.';

export function envelope({ wallMs, standing, output, maxTokens, artifact, hint }: EnvelopeInput): string {
  const { text, cut, totalBytes } = cutOutput(output, maxTokens);
  const lines = [
    `Chunk ID: ${randomBytes(3).toString('hex')}`,
    `Wall time: ${(wallMs / 1000).toFixed(4)} seconds`,
    standingLine(standing),
    `Original token count: ${tokensOf(totalBytes)}`,
  ];
  if (output.binary) lines.push(NOT_TEXT);
  if (cut) lines.push(`Total output lines: ${output.lines}`);
  if (cut && artifact) lines.push(`The whole output is kept in ${artifact}; read a range of it with read_artifact or a command.`);
  const note = hint ? `${text === '' || text.endsWith('\n') ? '' : '\n'}\n${hint}` : '';
  return `${lines.join('\n')}\nOutput:\n${text}${note}`;
}

/** Clamped to what a result may hold; an odd budget is the default. */
export const outputBudget = (asked: number | undefined): number =>
  asked === undefined ? DEFAULT_OUTPUT_TOKENS : Math.min(MAX_OUTPUT_TOKENS, Math.max(1, Math.floor(asked)));
