// The part of the method tables about the machine the daemon runs on: commands and processes of the client, files, file search.
import {
  CommandExecOutputDeltaNotification,
  CommandExecParams,
  CommandExecResizeParams,
  CommandExecResizeResponse,
  CommandExecResponse,
  CommandExecTerminateParams,
  CommandExecTerminateResponse,
  CommandExecWriteParams,
  CommandExecWriteResponse,
  ProcessExitedNotification,
  ProcessKillParams,
  ProcessKillResponse,
  ProcessOutputDeltaNotification,
  ProcessResizePtyParams,
  ProcessResizePtyResponse,
  ProcessSpawnParams,
  ProcessSpawnResponse,
  ProcessWriteStdinParams,
  ProcessWriteStdinResponse,
} from './exec.ts';
import { FsChangedNotification } from './fs.ts';
import { notification, request } from './method-spec.ts';

export const hostRequests = {
  'command/exec': request(CommandExecParams, CommandExecResponse, { scope: 'process', experimental: 'permissionProfile' }),
  'command/exec/write': request(CommandExecWriteParams, CommandExecWriteResponse, { scope: 'process' }),
  'command/exec/resize': request(CommandExecResizeParams, CommandExecResizeResponse, { scope: 'process' }),
  'command/exec/terminate': request(CommandExecTerminateParams, CommandExecTerminateResponse, { scope: 'process' }),
  'process/spawn': request(ProcessSpawnParams, ProcessSpawnResponse, { scope: 'process', stability: 'experimental' }),
  'process/writeStdin': request(ProcessWriteStdinParams, ProcessWriteStdinResponse, { scope: 'process', stability: 'experimental' }),
  'process/resizePty': request(ProcessResizePtyParams, ProcessResizePtyResponse, { scope: 'process', stability: 'experimental' }),
  'process/kill': request(ProcessKillParams, ProcessKillResponse, { scope: 'process', stability: 'experimental' }),
} as const;

export const hostNotifications = {
  'command/exec/outputDelta': notification(CommandExecOutputDeltaNotification, 'process'),
  'fs/changed': notification(FsChangedNotification, 'process'),
  'process/exited': notification(ProcessExitedNotification, 'process'),
  'process/outputDelta': notification(ProcessOutputDeltaNotification, 'process'),
} as const;
