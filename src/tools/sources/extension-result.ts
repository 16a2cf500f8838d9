// What an extension's function gave back, as what the model reads: a text, content items, or any value as JSON.
import { preview } from '../../common/text.ts';
import { type ContentPart, failedOutput, type ToolOutput, textOutput } from '../result.ts';
import type { ExtensionOutcome } from './extension-thread.ts';

type Raw = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Raw => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A content item in the form of MCP; undefined for one that nobody reads. */
function partOf(item: unknown): ContentPart | undefined {
  if (!isObject(item)) return undefined;
  if (item.type === 'text' && typeof item.text === 'string') return { type: 'text', text: item.text };
  if (item.type === 'image' && typeof item.data === 'string' && typeof item.mimeType === 'string')
    return { type: 'image', imageUrl: `data:${item.mimeType};base64,${item.data}` };
  return undefined;
}

function outputOfContent(tool: string, content: readonly unknown[], isError: boolean, takesImages: boolean): ToolOutput {
  const parts = content.map(partOf);
  const odd = parts.indexOf(undefined);
  if (odd >= 0)
    return failedOutput(
      'tool_error',
      `The result of ${tool} was refused: content[${odd}] is neither { type: "text", text } nor { type: "image", data, mimeType }: ${preview(JSON.stringify(content[odd]) ?? 'nothing', 120)}`,
      { uncertainOutcome: true },
    );
  const shown = (parts as ContentPart[]).map(
    (part): ContentPart =>
      part.type === 'image' && !takesImages ? { type: 'text', text: '[an image, which this model does not take]' } : part,
  );
  if (!isError) return { success: true, content: shown };
  return shown.length
    ? { success: false, category: 'tool_error', content: shown }
    : failedOutput('tool_error', `${tool} failed and gave no reason.`);
}

function outputOfValue(tool: string, value: unknown, takesImages: boolean): ToolOutput {
  if (value === undefined || value === null) return textOutput('(done)');
  if (typeof value === 'string') return textOutput(value);
  if (isObject(value) && Array.isArray(value.content)) return outputOfContent(tool, value.content, value.isError === true, takesImages);
  return textOutput(JSON.stringify(value) ?? String(value));
}

export function extensionOutput(
  call: { tool: string; extension: string; timeoutMs: number; seconds: string; takesImages: boolean },
  outcome: ExtensionOutcome,
): ToolOutput {
  const { tool, extension } = call;
  switch (outcome.type) {
    case 'replied': {
      const { reply } = outcome;
      if (reply.ok) return outputOfValue(tool, reply.value, call.takesImages);
      if (reply.kind === 'input')
        return failedOutput('invalid_arguments', `invalid arguments: ${preview(reply.problem, 600)}. Nothing was run.`);
      return failedOutput('tool_error', `${tool} failed: ${preview(reply.problem, 2000)}`);
    }
    case 'aborted':
      return failedOutput('cancelled', `aborted by user after ${call.seconds} s: ${tool} was told to stop. It may have had effects.`, {
        uncertainOutcome: true,
      });
    case 'timedOut':
      return failedOutput('timeout', `${tool} timed out: no result within its ${call.timeoutMs} ms. It may still have effects.`, {
        uncertainOutcome: true,
        retryable: true,
      });
    case 'gone':
      return failedOutput(
        'transport',
        `${tool} was cut off: the extension ${extension} ended (${preview(outcome.problem, 300)}). The call may have had effects. Its tools are gone; choose another way.`,
        { uncertainOutcome: true },
      );
  }
}
