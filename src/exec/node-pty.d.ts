// The part of node-pty's public interface that pty.ts uses where the native binding cannot be reached. The package describes itself
// under another name, so its own declarations do not apply.
declare module 'node-pty' {
  interface Terminal {
    readonly pid: number;
    onData(listener: (data: string | Uint8Array) => void): unknown;
    onExit(listener: (exit: { exitCode: number; signal?: number }) => void): unknown;
    write(data: string): void;
    resize(cols: number, rows: number): void;
    pause(): void;
    resume(): void;
  }
  function spawn(
    file: string,
    args: string[],
    options: { name: string; cols: number; rows: number; cwd: string; env: Record<string, string>; encoding: null },
  ): Terminal;
}
