// The one error of the configuration layer: which key, where it stands, what was expected. Its text is shown to people as it is,
// so it never repeats a value that may be a secret.

/** Where something stands in a file. Lines and columns count from 1. */
export interface Position {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
}

export interface ConfigProblem {
  /** Dotted key, quoted where needed; null when the whole source is at fault. */
  key: string | null;
  file: string | null;
  position: Position | null;
  /** The text without the place. */
  reason: string;
}

/** `file:line: reason`, or `source: reason` for what does not stand in a file. */
export function describeProblem(problem: ConfigProblem, source = ''): string {
  const line = problem.position === null ? '' : `:${problem.position.line}`;
  const place = problem.file === null ? source : `${problem.file}${line}`;
  return place === '' ? problem.reason : `${place}: ${problem.reason}`;
}

export class ConfigError extends Error {
  /** Never empty; the first one is the one to fix first. */
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[], source = '') {
    super(problems.map((problem) => describeProblem(problem, source)).join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }

  get key(): string | null {
    return this.problems[0]?.key ?? null;
  }

  get file(): string | null {
    return this.problems[0]?.file ?? null;
  }

  get line(): number | null {
    return this.problems[0]?.position?.line ?? null;
  }
}

export function sourceError(reason: string, file: string | null = null, position: Position | null = null): ConfigError {
  return new ConfigError([{ key: null, file, position, reason }]);
}
