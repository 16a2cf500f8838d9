// Names that every provider takes, made from whatever servers call their tools. A name that had to change carries a digest of the
// original, so it is stable: what other tools or servers exist plays no part in it, and two originals never share one.
import { createHash } from 'node:crypto';

const PREFIX = 'mcp__';
/** Providers refuse a whole request for one longer name. */
const MAX_FLAT = 64;
const MAX_SERVER = 24;
const DIGEST = 8;

const digestOf = (raw: string): string => createHash('sha256').update(raw).digest('hex').slice(0, DIGEST);

function withDigest(clean: string, raw: string, limit: number): string {
  const room = limit - DIGEST - 1;
  const stem = clean.slice(0, room).replace(/_+$/, '');
  return stem ? `${stem}_${digestOf(raw)}` : digestOf(raw);
}

/** One form for the text around the separator `__`: it stands between server and tool only, so that the flat form is unambiguous. */
const clean = (raw: string): string =>
  raw
    .replace(/[^a-zA-Z0-9_-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .replace(/_{2,}/g, '_');

/** The namespace of a server's tools. */
export function namespaceOf(server: string): string {
  const tidy = clean(server);
  return `${PREFIX}${tidy === server && tidy !== '' && tidy.length <= MAX_SERVER ? tidy : withDigest(tidy, server, MAX_SERVER)}`;
}

/** The name of a tool inside a namespace; with it, at most 64 characters. */
export function toolNameOf(namespace: string, tool: string): string {
  const limit = MAX_FLAT - namespace.length - 2;
  const tidy = tool.replace(/[^a-zA-Z0-9_-]+/g, '_').replace(/^_+/, '');
  return tidy === tool && tidy !== '' && tidy.length <= limit ? tidy : withDigest(tidy, tool, limit);
}
