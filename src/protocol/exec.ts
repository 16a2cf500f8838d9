// Commands and processes outside a turn, and the background terminals of a thread.
import * as z from 'zod';
import { SandboxPolicy } from './primitives.ts';
import { type Infer, schema } from './schema.ts';

export const CommandExecOutputStream = schema(() => z.enum(['stdout', 'stderr']));
export type CommandExecOutputStream = Infer<typeof CommandExecOutputStream>;

export const CommandExecOutputDeltaNotification = schema(() =>
  z.object({ capReached: z.boolean(), deltaBase64: z.string(), processId: z.string(), stream: CommandExecOutputStream() }),
);
export type CommandExecOutputDeltaNotification = Infer<typeof CommandExecOutputDeltaNotification>;

export const CommandExecTerminalSize = schema(() => z.object({ cols: z.int().min(0.0), rows: z.int().min(0.0) }));
export type CommandExecTerminalSize = Infer<typeof CommandExecTerminalSize>;

export const CommandExecParams = schema(() =>
  z.object({
    command: z.array(z.string()),
    cwd: z.string().nullish(),
    disableOutputCap: z.boolean().nullish(),
    disableTimeout: z.boolean().nullish(),
    env: z.record(z.string(), z.string().nullable()).nullish(),
    outputBytesCap: z.int().min(0.0).nullish(),
    permissionProfile: z.string().nullish(),
    processId: z.string().nullish(),
    sandboxPolicy: SandboxPolicy().nullish(),
    size: CommandExecTerminalSize().nullish(),
    streamStdin: z.boolean().nullish(),
    streamStdoutStderr: z.boolean().nullish(),
    timeoutMs: z.int().nullish(),
    tty: z.boolean().nullish(),
  }),
);
export type CommandExecParams = Infer<typeof CommandExecParams>;

export const CommandExecResizeParams = schema(() => z.object({ processId: z.string(), size: CommandExecTerminalSize() }));
export type CommandExecResizeParams = Infer<typeof CommandExecResizeParams>;

export const CommandExecResizeResponse = schema(() => z.object({}));
export type CommandExecResizeResponse = Infer<typeof CommandExecResizeResponse>;

/** The marks of a cut are there only when something was cut. */
export const CommandExecResponse = schema(() =>
  z.object({
    exitCode: z.int(),
    stderr: z.string(),
    stderrCapReached: z.boolean().optional(),
    stdout: z.string(),
    stdoutCapReached: z.boolean().optional(),
  }),
);
export type CommandExecResponse = Infer<typeof CommandExecResponse>;

export const CommandExecTerminateParams = schema(() => z.object({ processId: z.string() }));
export type CommandExecTerminateParams = Infer<typeof CommandExecTerminateParams>;

export const CommandExecTerminateResponse = schema(() => z.object({}));
export type CommandExecTerminateResponse = Infer<typeof CommandExecTerminateResponse>;

export const CommandExecWriteParams = schema(() =>
  z.object({ closeStdin: z.boolean().nullish(), deltaBase64: z.string().nullish(), processId: z.string() }),
);
export type CommandExecWriteParams = Infer<typeof CommandExecWriteParams>;

export const CommandExecWriteResponse = schema(() => z.object({}));
export type CommandExecWriteResponse = Infer<typeof CommandExecWriteResponse>;

export const ProcessExitedNotification = schema(() =>
  z.object({
    exitCode: z.int(),
    outputDrainTimedOut: z.boolean().nullish(),
    processHandle: z.string(),
    stderr: z.string(),
    stderrCapReached: z.boolean(),
    stdout: z.string(),
    stdoutCapReached: z.boolean(),
  }),
);
export type ProcessExitedNotification = Infer<typeof ProcessExitedNotification>;

export const ProcessKillParams = schema(() => z.object({ processHandle: z.string() }));
export type ProcessKillParams = Infer<typeof ProcessKillParams>;

export const ProcessKillResponse = schema(() => z.object({}));
export type ProcessKillResponse = Infer<typeof ProcessKillResponse>;

export const ProcessOutputStream = schema(() => z.enum(['stdout', 'stderr']));
export type ProcessOutputStream = Infer<typeof ProcessOutputStream>;

export const ProcessOutputDeltaNotification = schema(() =>
  z.object({ capReached: z.boolean(), deltaBase64: z.string(), processHandle: z.string(), stream: ProcessOutputStream() }),
);
export type ProcessOutputDeltaNotification = Infer<typeof ProcessOutputDeltaNotification>;

export const ProcessTerminalSize = schema(() => z.object({ cols: z.int().min(0.0), rows: z.int().min(0.0) }));
export type ProcessTerminalSize = Infer<typeof ProcessTerminalSize>;

export const ProcessResizePtyParams = schema(() => z.object({ processHandle: z.string(), size: ProcessTerminalSize() }));
export type ProcessResizePtyParams = Infer<typeof ProcessResizePtyParams>;

export const ProcessResizePtyResponse = schema(() => z.object({}));
export type ProcessResizePtyResponse = Infer<typeof ProcessResizePtyResponse>;

export const ProcessSpawnParams = schema(() =>
  z.object({
    command: z.array(z.string()),
    cwd: z.string(),
    env: z.record(z.string(), z.string().nullable()).nullish(),
    outputBytesCap: z.int().min(0.0).nullish(),
    processHandle: z.string(),
    size: ProcessTerminalSize().nullish(),
    streamStdin: z.boolean().nullish(),
    streamStdoutStderr: z.boolean().nullish(),
    timeoutMs: z.int().nullish(),
    tty: z.boolean().nullish(),
  }),
);
export type ProcessSpawnParams = Infer<typeof ProcessSpawnParams>;

export const ProcessSpawnResponse = schema(() => z.object({}));
export type ProcessSpawnResponse = Infer<typeof ProcessSpawnResponse>;

export const ProcessWriteStdinParams = schema(() =>
  z.object({ closeStdin: z.boolean().nullish(), deltaBase64: z.string().nullish(), processHandle: z.string() }),
);
export type ProcessWriteStdinParams = Infer<typeof ProcessWriteStdinParams>;

export const ProcessWriteStdinResponse = schema(() => z.object({}));
export type ProcessWriteStdinResponse = Infer<typeof ProcessWriteStdinResponse>;

export const ThreadBackgroundTerminal = schema(() =>
  z.object({
    command: z.string(),
    cpuPercent: z.number().nullish(),
    cwd: z.string(),
    itemId: z.string(),
    osPid: z.int().min(0.0).nullish(),
    processId: z.string(),
    rssKb: z.int().min(0.0).nullish(),
  }),
);
export type ThreadBackgroundTerminal = Infer<typeof ThreadBackgroundTerminal>;

export const ThreadBackgroundTerminalsCleanParams = schema(() => z.object({ threadId: z.string() }));
export type ThreadBackgroundTerminalsCleanParams = Infer<typeof ThreadBackgroundTerminalsCleanParams>;

export const ThreadBackgroundTerminalsCleanResponse = schema(() => z.object({}));
export type ThreadBackgroundTerminalsCleanResponse = Infer<typeof ThreadBackgroundTerminalsCleanResponse>;

export const ThreadBackgroundTerminalsListParams = schema(() =>
  z.object({ cursor: z.string().nullish(), limit: z.int().min(0.0).nullish(), threadId: z.string() }),
);
export type ThreadBackgroundTerminalsListParams = Infer<typeof ThreadBackgroundTerminalsListParams>;

export const ThreadBackgroundTerminalsListResponse = schema(() =>
  z.object({ data: z.array(ThreadBackgroundTerminal()), nextCursor: z.string().nullish() }),
);
export type ThreadBackgroundTerminalsListResponse = Infer<typeof ThreadBackgroundTerminalsListResponse>;

export const ThreadBackgroundTerminalsTerminateParams = schema(() => z.object({ processId: z.string(), threadId: z.string() }));
export type ThreadBackgroundTerminalsTerminateParams = Infer<typeof ThreadBackgroundTerminalsTerminateParams>;

export const ThreadBackgroundTerminalsTerminateResponse = schema(() => z.object({ terminated: z.boolean() }));
export type ThreadBackgroundTerminalsTerminateResponse = Infer<typeof ThreadBackgroundTerminalsTerminateResponse>;

export const ThreadShellCommandParams = schema(() => z.object({ command: z.string(), threadId: z.string(), timeoutMs: z.int().nullish() }));
export type ThreadShellCommandParams = Infer<typeof ThreadShellCommandParams>;

export const ThreadShellCommandResponse = schema(() => z.object({}));
export type ThreadShellCommandResponse = Infer<typeof ThreadShellCommandResponse>;
