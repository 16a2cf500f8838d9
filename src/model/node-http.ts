// Node's HTTP modules, loaded with the first request: they would cost a tenth of the cold start, and TLS as much again, while a daemon
// on a scripted model needs neither.
import type http from 'node:http';
import type https from 'node:https';

export const plainHttp = (): typeof http => process.getBuiltinModule('node:http');
export const secureHttp = (): typeof https => process.getBuiltinModule('node:https');

/** `429 Too Many Requests`. */
export const statusLine = (status: number): string => `${status} ${plainHttp().STATUS_CODES[status] ?? 'Unknown'}`;
