// From a server's result to what the model reads: text and structured content both, images where the model takes them, and a line for
// whatever it cannot take, so that nothing vanishes.
import type { ContentPart } from '../result.ts';

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const textOr = (value: unknown, fallback: string): string => (typeof value === 'string' && value !== '' ? value : fallback);
const text = (value: string): ContentPart => ({ type: 'text', text: value });

const sizeOf = (base64: string): string => `${Math.round((base64.length * 3) / 4)} bytes`;

function imageOf(data: unknown, mimeType: unknown, supportsImages: boolean): ContentPart {
  const mime = textOr(mimeType, 'image/png');
  if (typeof data !== 'string' || data === '') return text(`[image (${mime}) without data]`);
  if (!supportsImages) return text(`[image (${mime}, ${sizeOf(data)}): this model does not take images]`);
  return { type: 'image', imageUrl: `data:${mime};base64,${data}`, detail: 'high' };
}

function resourceParts(resource: Json, supportsImages: boolean): ContentPart[] {
  const uri = textOr(resource.uri, '(no address)');
  const mime = typeof resource.mimeType === 'string' ? ` (${resource.mimeType})` : '';
  if (typeof resource.text === 'string') return [text(`[resource ${uri}${mime}]\n${resource.text}`)];
  if (typeof resource.blob !== 'string') return [text(`[resource ${uri}${mime} without content]`)];
  if (typeof resource.mimeType === 'string' && resource.mimeType.startsWith('image/'))
    return [text(`[resource ${uri}${mime}]`), imageOf(resource.blob, resource.mimeType, supportsImages)];
  return [text(`[resource ${uri}${mime}: binary content of ${sizeOf(resource.blob)}, which a model cannot read]`)];
}

/** One entry of `content`, of whatever kind. */
export function contentParts(entry: unknown, supportsImages: boolean): ContentPart[] {
  if (!isObject(entry)) return [text(JSON.stringify(entry) ?? '')];
  switch (entry.type) {
    case 'text':
      return [text(typeof entry.text === 'string' ? entry.text : '')];
    case 'image':
      return [imageOf(entry.data, entry.mimeType, supportsImages)];
    case 'audio':
      return [
        text(
          `[audio (${textOr(entry.mimeType, 'unknown type')}${typeof entry.data === 'string' ? `, ${sizeOf(entry.data)}` : ''}): this model does not take audio]`,
        ),
      ];
    case 'resource':
      return isObject(entry.resource) ? resourceParts(entry.resource, supportsImages) : [text(JSON.stringify(entry))];
    case 'resource_link': {
      const about = typeof entry.description === 'string' && entry.description ? `: ${entry.description}` : '';
      return [
        text(
          `[link to the resource ${textOr(entry.name, 'unnamed')} at ${textOr(entry.uri, '(no address)')}${about}; read_mcp_resource reads it]`,
        ),
      ];
    }
    default:
      return [text(JSON.stringify(entry))];
  }
}

/** Servers often repeat the structured content as a text; it is told once. */
function repeats(entries: readonly unknown[], structured: string): boolean {
  return entries.some((entry) => {
    if (!isObject(entry) || entry.type !== 'text' || typeof entry.text !== 'string') return false;
    if (!/^\s*[[{"\d]/.test(entry.text)) return false;
    try {
      return JSON.stringify(JSON.parse(entry.text)) === structured;
    } catch {
      return false;
    }
  });
}

const separated = (parts: ContentPart[]): ContentPart[] => {
  // Neighbouring texts are one text, so that a plain result goes back as a plain string.
  const out: ContentPart[] = [];
  for (const part of parts) {
    const last = out.at(-1);
    if (part.type === 'text' && last?.type === 'text') out[out.length - 1] = text(`${last.text}\n${part.text}`);
    else out.push(part);
  }
  return out;
};

export interface McpResult {
  content: unknown[];
  structuredContent: unknown;
  meta: unknown;
  isError: boolean;
}

export function readResult(result: Json): McpResult {
  return {
    content: Array.isArray(result.content) ? result.content : [],
    structuredContent: result.structuredContent ?? null,
    meta: result._meta ?? null,
    isError: result.isError === true,
  };
}

export function modelContent(result: McpResult, supportsImages: boolean): ContentPart[] {
  const parts = result.content.flatMap((entry) => contentParts(entry, supportsImages));
  if (result.structuredContent !== null) {
    const structured = JSON.stringify(result.structuredContent);
    if (!repeats(result.content, structured)) parts.push(text(structured));
  }
  if (parts.length === 0) parts.push(text(result.isError ? 'it gave no reason' : '(the tool gave no content)'));
  return separated(result.isError ? [text('The tool reported an error:'), ...parts] : parts);
}
