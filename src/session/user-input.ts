// What a user sends, as an item for the client and as content for the model. Bad input is refused before a turn exists.
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { invalidParams, invalidRequest, messageOf } from '../common/errors.ts';
import type { ThreadItem, UserInput } from '../protocol/item.ts';
import type { MessageContent, MessageItem } from '../protocol/response-item.ts';
import { sniffImage } from '../tools/image-type.ts';

/** The protocol's limit on the characters of one input. */
export const MAX_INPUT_CHARS = 1_048_576;

export interface UserMessage {
  readonly id: string;
  readonly clientId: string | null;
  readonly input: readonly UserInput[];
  /** Context that came with it, by key. */
  readonly context: readonly { key: string; kind: 'application' | 'untrusted'; value: string }[];
}

/**
 * Throws an RpcError for input that no turn may begin with.
 * @param context the values of context that comes with it; they count as text
 */
export function checkInput(input: readonly UserInput[], context: readonly string[] = []): void {
  let chars = context.reduce((sum, value) => sum + value.length, 0);
  for (const [i, part] of input.entries()) {
    if (part.type === 'text') chars += part.text.length;
    if (part.type === 'image' && !part.url.startsWith('data:')) {
      throw invalidRequest(`params.input[${i}].url: remote image URLs are not supported; use an inline data URL instead`);
    }
  }
  if (chars > MAX_INPUT_CHARS) {
    throw invalidParams(`params.input: at most ${MAX_INPUT_CHARS} characters of text, got ${chars}`, {
      input_error_code: 'input_too_large',
      max_chars: MAX_INPUT_CHARS,
      actual_chars: chars,
    });
  }
}

export function userMessageItem(message: UserMessage): Extract<ThreadItem, { type: 'userMessage' }> {
  const content = message.input.map((part) => (part.type === 'text' ? { ...part, text_elements: part.text_elements ?? [] } : part));
  return { type: 'userMessage', id: message.id, clientId: message.clientId, content };
}

async function localImage(file: string, cwd: string, index: number): Promise<MessageContent[]> {
  const absolute = path.resolve(cwd, file);
  const label = `[Image #${index}]`;
  try {
    // Opening a pipe could wait for ever, and a device has no end.
    if (!(await stat(absolute)).isFile())
      return [{ type: 'input_text', text: `The image ${label} at ${absolute} cannot be read: it is not a file.` }];
    const bytes = await readFile(absolute);
    const image = sniffImage(bytes);
    if (!image.ok) return [{ type: 'input_text', text: `The image ${label} at ${absolute} cannot be shown: ${image.problem}.` }];
    return [
      { type: 'input_text', text: `<image name=${label} path="${absolute}">` },
      { type: 'input_image', image_url: `data:${image.mime};base64,${bytes.toString('base64')}`, detail: 'original' },
      { type: 'input_text', text: '</image>' },
    ];
  } catch (error) {
    return [{ type: 'input_text', text: `The image ${label} at ${absolute} cannot be read: ${messageOf(error)}.` }];
  }
}

/** The message that the model reads. Images are read now, so that history holds what was seen. */
export async function toModelMessage(input: readonly UserInput[], cwd: string): Promise<MessageItem> {
  const content: MessageContent[] = [];
  let images = 0;
  for (const part of input) {
    switch (part.type) {
      case 'text':
        content.push({ type: 'input_text', text: part.text });
        break;
      case 'image':
        images++;
        content.push({ type: 'input_image', image_url: part.url, ...(part.detail ? { detail: part.detail } : {}) });
        break;
      case 'localImage':
        content.push(...(await localImage(part.path, cwd, ++images)));
        break;
      case 'skill':
        content.push({ type: 'input_text', text: `$${part.name} (skill at ${part.path})` });
        break;
      case 'mention':
        content.push({ type: 'input_text', text: `@${part.name} (${part.path})` });
        break;
      case 'audio':
      case 'localAudio':
        content.push({ type: 'input_text', text: 'An audio attachment was left out: this model reads text and images only.' });
        break;
    }
  }
  return { type: 'message', role: 'user', content };
}

/** The message that the model reads when the files that it names are not looked at any more. */
export function plainModelMessage(input: readonly UserInput[]): MessageItem {
  const content = input.map((part): MessageContent => {
    if (part.type === 'text') return { type: 'input_text', text: part.text };
    if (part.type === 'image') return { type: 'input_image', image_url: part.url };
    return { type: 'input_text', text: 'path' in part ? `[${part.type} ${part.path}]` : `[${part.type}]` };
  });
  return { type: 'message', role: 'user', content };
}
