// One connected frontend: its handshake, what it asked for, and which threads it listens to.
import type { NotificationParams, ServerNotificationMethod } from '../protocol/methods.ts';
import type { Connection } from './connection.ts';

/** What the client said about itself in `initialize`; null before. Written once. */
export interface ClientIdentity {
  name: string;
  version: string;
  experimental: boolean;
}

export class ClientSession {
  readonly connection: Connection;
  identity: ClientIdentity | null = null;
  /** Threads whose events it hears. */
  readonly subscriptions = new Set<string>();

  /** Summaries of the notices that it was given. */
  readonly #noticed = new Set<string>();

  constructor(connection: Connection) {
    this.connection = connection;
  }

  notify<M extends ServerNotificationMethod>(method: M, params: NotificationParams<M>): void {
    this.connection.notify(method, params);
  }

  /** Says once that something it uses has an older form. */
  deprecated(notice: NotificationParams<'deprecationNotice'>): void {
    if (this.#noticed.has(notice.summary)) return;
    this.#noticed.add(notice.summary);
    this.notify('deprecationNotice', notice);
  }
}
