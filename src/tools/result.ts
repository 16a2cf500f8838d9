// What a call gives back: one form for every source, and the two kinds of error.
import type { FunctionSpec, NamespaceSpec } from '../protocol/tool-spec.ts';

export type ContentPart = { type: 'text'; text: string } | { type: 'image'; imageUrl: string; detail?: string };

export type ErrorCategory =
  | 'denied_by_user'
  | 'denied_by_policy'
  | 'blocked_by_hook'
  | 'invalid_arguments'
  | 'not_found'
  | 'timeout'
  | 'cancelled'
  | 'sandbox_denied'
  | 'tool_error'
  | 'transport';

export interface ToolOutput {
  success: boolean;
  content: ContentPart[];
  category?: ErrorCategory;
  /** The same call may succeed later. */
  retryable?: boolean;
  /** The call was cut off: it may have had effects. */
  uncertainOutcome?: boolean;
  /** The call cut its own text to its budget already; the whole is kept here. */
  artifact?: string;
  /** What hooks tell the model beside the output. */
  hookContext?: readonly string[];
  /** Only for a tool search: the specs it found, grouped. */
  found?: readonly (NamespaceSpec | FunctionSpec)[];
  /** The turn ends after this call, as interrupted (the user cancelled). */
  interruptTurn?: boolean;
  /** The history begins anew after this step. */
  newContext?: boolean;
}

export const textOutput = (text: string, more: Partial<ToolOutput> = {}): ToolOutput => ({
  success: true,
  content: [{ type: 'text', text }],
  ...more,
});

export const failedOutput = (category: ErrorCategory, text: string, more: Partial<ToolOutput> = {}): ToolOutput => ({
  success: false,
  content: [{ type: 'text', text }],
  category,
  ...more,
});

/** The text of an output, images left out. */
export const textOf = (output: ToolOutput): string => output.content.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** This call failed, the world is fine: the model reads the message and the turn goes on. */
export class ToolError extends Error {
  readonly category: ErrorCategory;
  readonly retryable: boolean;
  readonly uncertainOutcome: boolean;

  constructor(category: ErrorCategory, message: string, options: { retryable?: boolean; uncertainOutcome?: boolean } = {}) {
    super(message);
    this.name = 'ToolError';
    this.category = category;
    this.retryable = options.retryable ?? false;
    this.uncertainOutcome = options.uncertainOutcome ?? false;
  }
}

/** The harness's own contract broke: the turn fails, the thread lives. */
export class FatalToolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FatalToolError';
  }
}
