// The processes of MCP servers, as a port: the composition root gives the real ones. A server is a whole group, never a lone child.

export interface McpProcessRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment of the server. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Contract: `exited` resolves once with the reason in words ("exited with code 3") and never rejects. `end` closes stdin, ends the
 * process and everything that it started, and resolves when nothing is left. `write` reports false when nobody reads any more.
 */
export interface McpProcess {
  readonly exited: Promise<string>;
  onOutput(listener: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void): void;
  write(text: string): boolean;
  end(): Promise<void>;
}

export interface ProcessPort {
  start(request: McpProcessRequest): McpProcess;
}
