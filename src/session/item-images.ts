// Images among the items of a history: what stands in their place where none can be sent, and what they weigh.
import { BYTES_PER_TOKEN } from '../common/bound-text.ts';
import type { InputText, ResponseItem } from '../protocol/response-item.ts';

/** Providers count an image by its picture, not by its bytes; this is what a large one comes to. */
const IMAGE_TOKENS = 1_600;

type Part = { type: string };

const isImage = (part: Part): boolean => part.type === 'input_image';

/** The parts of an item that may be images; none for items of one text. */
function partsOf(item: ResponseItem): readonly Part[] {
  if (item.type === 'message') return item.content;
  if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') return [];
  return typeof item.output === 'string' ? [] : item.output;
}

/** An item with a text for each image; the same item when it has none. */
export function withTextFor(item: ResponseItem, text: string): ResponseItem {
  if (!partsOf(item).some(isImage)) return item;
  const parts = partsOf(item).map((part) => (isImage(part) ? ({ type: 'input_text', text } satisfies InputText) : part));
  return (item.type === 'message' ? { ...item, content: parts } : { ...item, output: parts }) as ResponseItem;
}

/** About how many bytes of a model's window an item takes. */
export function windowBytes(item: ResponseItem): number {
  const images = partsOf(item).filter(isImage).length;
  return Buffer.byteLength(JSON.stringify(withTextFor(item, ''))) + images * IMAGE_TOKENS * BYTES_PER_TOKEN;
}
