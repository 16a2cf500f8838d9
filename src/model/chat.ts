// The adapter for Chat Completions servers, local ones above all.
import { ChatDecoder } from './chat-events.ts';
import { chatBody } from './chat-wire.ts';
import type { FlatAdapter } from './flat-client.ts';
import { bearer } from './provider.ts';

export const chatAdapter: FlatAdapter = {
  path: '/chat/completions',
  headers: {},
  authorize: bearer,
  body: chatBody,
  decoder: (parts) => new ChatDecoder(parts),
};
