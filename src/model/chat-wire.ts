// The request of Chat Completions. Only members that nearly every server knows go out: some refuse a request for one they do not.
import type { FunctionSpec } from '../protocol/tool-spec.ts';
import type { ModelRequest } from './client.ts';
import { type AssistantPart, conversationOf, splitLead, type UserPart, type Utterance, wrapDeveloper } from './conversation.ts';
import { type FlatTools, objectSchema } from './flat-tools.ts';

type Wire = Record<string, unknown>;

const functionTool = (spec: FunctionSpec): Wire => ({
  type: 'function',
  function: {
    name: spec.name,
    description: spec.description,
    parameters: objectSchema(spec.parameters),
    strict: spec.strict ? true : undefined,
  },
});

function contentOf(parts: readonly UserPart[]): string | Wire[] {
  if (parts.every((part) => part.type === 'input_text')) return parts.map((part) => part.text).join('\n');
  return parts.map((part) => {
    if (part.type === 'input_text') return { type: 'text', text: part.text };
    const detail = /^(?:low|high|auto)$/.test(part.detail ?? '') ? part.detail : undefined;
    return { type: 'image_url', image_url: { url: part.image_url, detail } };
  });
}

/** `replay`: servers whose models reason between calls want their reasoning back until the user speaks again. */
function assistantMessages(parts: readonly AssistantPart[], replay: boolean): Wire[] {
  const calls = parts.flatMap((part) => (part.type === 'call' ? [part.call] : []));
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const reasoning = parts.flatMap((part) => (part.type === 'reasoning' ? part.item.summary.map((one) => one.text) : [])).join('\n');
  const message: Wire = { role: 'assistant', content: text || (calls.length > 0 ? null : '') };
  if (replay && reasoning && calls.length > 0) message.reasoning_content = reasoning;
  if (calls.length > 0) {
    message.tool_calls = calls.map((call) => ({ id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } }));
  }
  const results = calls.map((call) => {
    const texts = call.output.flatMap((part) => (part.type === 'input_text' ? [part.text] : []));
    const images = call.output.length - texts.length;
    if (images > 0) texts.push(`[${images} ${images === 1 ? 'image' : 'images'}: see the next user message]`);
    return { role: 'tool', tool_call_id: call.id, content: texts.join('\n') };
  });
  // A tool message holds text only. Images follow once all results are told, as nothing may stand between these.
  const shown = calls.flatMap((call) => {
    const images = call.output.filter((part) => part.type === 'input_image');
    return images.length > 0 ? [{ type: 'input_text' as const, text: `Image output of ${call.name} (${call.id}):` }, ...images] : [];
  });
  return [message, ...results, ...(shown.length > 0 ? [{ role: 'user', content: contentOf(shown) }] : [])];
}

function messagesOf(utterances: readonly Utterance[], instructions: string | undefined): Wire[] {
  // One system message, at the start: the templates of many local models take no other.
  const { lead, rest } = splitLead(instructions, utterances);
  const messages: Wire[] = lead.length > 0 ? [{ role: 'system', content: lead.join('\n\n') }] : [];
  const lastUser = rest.findLastIndex((one) => one.role === 'user');
  rest.forEach((one, index) => {
    if (one.role === 'developer') messages.push({ role: 'user', content: wrapDeveloper(one.text) });
    else if (one.role === 'user') messages.push({ role: 'user', content: contentOf(one.parts) });
    else messages.push(...assistantMessages(one.parts, index > lastUser));
  });
  return messages;
}

export function chatBody(request: ModelRequest, flat: FlatTools, origin: string): string {
  const tools = flat.functions.map(functionTool);
  return JSON.stringify({
    model: request.model,
    messages: messagesOf(conversationOf(request.input, flat, origin), request.instructions),
    tools: tools.length > 0 ? tools : undefined,
    parallel_tool_calls: tools.length > 0 && !request.parallelToolCalls ? false : undefined,
    reasoning_effort: request.reasoning?.effort,
    verbosity: request.verbosity,
    service_tier: request.serviceTier,
    response_format:
      request.outputSchema === undefined
        ? undefined
        : { type: 'json_schema', json_schema: { name: 'codex_output_schema', strict: true, schema: request.outputSchema } },
    stream: true,
    stream_options: { include_usage: true },
  });
}
