// From a call's output to the item that enters history: bounded once more by the thread's hard limit, in the form in which the call came.
import { boundOutput } from '../common/bound-text.ts';
import type { InputImage, InputText, ToolCallOutputItem, ToolOutputBody } from '../protocol/response-item.ts';
import type { ArtifactPort } from './artifacts.ts';
import type { ToolOutput } from './result.ts';
import type { ToolCall } from './runtime.ts';
import { toSearchResult } from './search-result.ts';

/** The sentence that names the whole of what was cut. */
export const artifactNote = (path: string): string =>
  `\n[The whole result is kept in ${path}; read a range of it with read_artifact or a command.]`;

/** Cuts the texts of an output to a number of tokens, together; images are kept. */
async function bounded(
  call: ToolCall,
  output: ToolOutput,
  limitTokens: number,
  artifacts: ArtifactPort,
): Promise<(InputText | InputImage)[]> {
  const texts = output.content.filter((part) => part.type === 'text').map((part) => part.text);
  const total = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const parts: (InputText | InputImage)[] = [];
  let left = limitTokens;
  let cut = false;
  for (const part of output.content) {
    if (part.type === 'image') {
      parts.push({ type: 'input_image', image_url: part.imageUrl, ...(part.detail ? { detail: part.detail } : {}) });
      continue;
    }
    if (total <= limitTokens * 4) {
      parts.push({ type: 'input_text', text: part.text });
      continue;
    }
    const short = boundOutput(part.text, Math.max(50, left));
    cut ||= short.truncated;
    left -= Math.ceil(Buffer.byteLength(short.text) / 4);
    parts.push({ type: 'input_text', text: short.text });
  }
  if (cut) {
    const kept = output.artifact ?? (await artifacts.save(call.callId, texts.join('')));
    const last = parts.findLast((part): part is InputText => part.type === 'input_text');
    if (kept && last && !last.text.includes(kept)) last.text += artifactNote(kept);
  }
  return parts;
}

/** One text goes back as a string, anything richer as parts. */
function bodyOf(parts: (InputText | InputImage)[]): ToolOutputBody {
  if (parts.length === 0) return '(the tool gave no content)';
  if (parts.length === 1 && parts[0].type === 'input_text') return parts[0].text;
  return parts;
}

export async function toHistoryItem(
  call: ToolCall,
  output: ToolOutput,
  limitTokens: number,
  artifacts: ArtifactPort,
): Promise<ToolCallOutputItem> {
  if (call.replyAs === 'search') return toSearchResult(call.callId, output);
  const body = bodyOf(await bounded(call, output, limitTokens, artifacts));
  return { type: call.replyAs === 'custom' ? 'custom_tool_call_output' : 'function_call_output', call_id: call.callId, output: body };
}
