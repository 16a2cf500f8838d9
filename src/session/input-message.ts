// What we say to the model ourselves: one text as an input item of its history.
import type { MessageItem } from '../protocol/response-item.ts';

export const inputMessage = (role: MessageItem['role'], text: string): MessageItem => ({
  type: 'message',
  role,
  content: [{ type: 'input_text', text }],
});
