import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTool } from '../../src/mcp/tool-definition.ts';
import { exposureOf } from '../../src/server/mcp-tools.ts';
import type { StepFacts } from '../../src/tools/runtime.ts';
import { normaliseSchema } from '../../src/tools/schema-normalise.ts';
import { type McpApprovalRules, mcpApprovalNeed } from '../../src/tools/sources/mcp-approval.ts';
import { modelContent, readResult } from '../../src/tools/sources/mcp-result.ts';

const step = (approvalPolicy: StepFacts['approvalPolicy']) => ({ approvalPolicy }) as StepFacts;
const tool = (annotations?: object) => {
  const read = readTool({ name: 'do', description: 'Does', inputSchema: {}, ...(annotations ? { annotations } : {}) });
  if (!read) throw new Error('unreadable');
  return read;
};
const rules = (more: Partial<McpApprovalRules> = {}): McpApprovalRules => ({
  server: 'x',
  serverKey: 'k',
  mode: 'auto',
  approvedDigest: null,
  remember: null,
  ...more,
});

describe('approval', () => {
  const harmless = { destructiveHint: false, openWorldHint: false };
  it.each([
    ['auto', undefined, 'needsApproval'],
    ['auto', { readOnlyHint: true }, 'skip'],
    ['auto', harmless, 'skip'],
    ['auto', { destructiveHint: false }, 'needsApproval'],
    ['auto', { readOnlyHint: 'yes' }, 'needsApproval'],
    ['writes', harmless, 'needsApproval'],
    ['writes', { readOnlyHint: true }, 'skip'],
    ['prompt', { readOnlyHint: true }, 'needsApproval'],
    ['approve', undefined, 'skip'],
  ] as const)('[mcp.approval.mode] mode %s with hints %j: %s', (mode, hints, wanted) => {
    expect(mcpApprovalNeed(tool(hints), {}, rules({ mode }), step('on-request')).type).toBe(wanted);
  });

  it('[mcp.approval.policy] a policy that forbids questions refuses what would ask, and only that', () => {
    const granular = { granular: { mcp_elicitations: false } } as StepFacts['approvalPolicy'];
    for (const policy of ['never' as const, granular]) {
      expect(mcpApprovalNeed(tool(), {}, rules(), step(policy)).type).toBe('forbidden');
      expect(mcpApprovalNeed(tool({ readOnlyHint: true }), {}, rules(), step(policy)).type).toBe('skip');
    }
  });

  it('[mcp.approval.digest] an approval for good ends when the definition is another one', () => {
    const approved = rules({ mode: 'approve', approvedDigest: tool().digest });
    expect(mcpApprovalNeed(tool(), {}, approved, step('on-request')).type).toBe('skip');
    expect(mcpApprovalNeed(tool({ title: 'Other' }), {}, approved, step('on-request')).type).toBe('needsApproval');
  });

  it('[mcp.approval.keys] the key names server and definition; the mode prompt has none', () => {
    const keysOf = (more: Partial<McpApprovalRules>, hints?: object) => {
      const need = mcpApprovalNeed(tool(hints), {}, rules(more), step('on-request'));
      return need.type === 'needsApproval' ? need.keys : null;
    };
    expect(keysOf({})).toEqual(keysOf({}));
    expect(keysOf({})).not.toEqual(keysOf({ server: 'y' }));
    expect(keysOf({})).not.toEqual(keysOf({ serverKey: 'other' }));
    expect(keysOf({})).not.toEqual(keysOf({}, { title: 'Other' }));
    expect(keysOf({ mode: 'prompt' })).toEqual([]);
  });
});

describe('exposure', () => {
  it.each([
    [[], true, 'deferred'],
    [[], false, 'direct'],
    [['direct'], true, 'deferred'],
    [['direct'], false, 'codeModeOnly'],
    [['deferred'], true, 'direct'],
    [['code_mode'], true, 'deferredModelOnly'],
    [['code_mode'], false, 'directModelOnly'],
    [['direct', 'deferred', 'code_mode'], true, 'hidden'],
  ] as const)('[mcp.exposure] omitted from %j, search %s: %s', (omit, canDefer, wanted) => {
    expect(exposureOf({ omit_tools_from: [...omit] }, canDefer)).toBe(wanted);
  });
});

describe('schemas', () => {
  it.each([[5], [[]], [{ type: 'string' }]])('[mcp.schema.refused] %j', (given) => {
    expect(normaliseSchema(given).ok).toBe(false);
  });

  it('[mcp.schema.any] whatever comes, the answer is a refusal or an object schema without what providers refuse at the top', () => {
    const keys = fc.constantFrom('type', 'properties', 'anyOf', 'allOf', '$ref', 'items', 'required', '$defs', 'a');
    const { node } = fc.letrec((tie) => ({
      node: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('object', 'array', '#', '#/$defs/a', '#/anyOf/0', true, false, null, 3),
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(keys, tie('node'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(node, (given) => {
        const read = normaliseSchema(given);
        if (!read.ok) return;
        expect(read.schema.type).toBe('object');
        expect(Object.keys(read.schema).filter((key) => ['anyOf', 'oneOf', 'allOf', '$ref', 'not', 'enum'].includes(key))).toEqual([]);
        expect(typeof read.schema.properties).toBe('object');
      }),
    );
  });
});

describe('results', () => {
  const contentOf = (result: Record<string, unknown>, images = true) => modelContent(readResult(result), images);
  const text = (value: string) => ({ type: 'text', text: value });

  it('[mcp.result.both] text and structured content are both told, a repetition once', () => {
    expect(contentOf({ content: [text('three rows')], structuredContent: { rows: 3 } })).toEqual([text('three rows\n{"rows":3}')]);
    expect(contentOf({ content: [text('{ "rows": 3 }')], structuredContent: { rows: 3 } })).toEqual([text('{ "rows": 3 }')]);
  });

  it('[mcp.result.error] an error is told as one', () => {
    expect(contentOf({ isError: true, content: [text('fire')] })).toEqual([text('The tool reported an error:\nfire')]);
  });

  it('[mcp.result.kinds] what the model cannot take leaves a line', () => {
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
    expect(contentOf({ content: [image] })).toEqual([{ type: 'image', imageUrl: 'data:image/png;base64,AAAA', detail: 'high' }]);
    expect(contentOf({ content: [image] }, false)).toEqual([text('[image (image/png, 3 bytes): this model does not take images]')]);
    expect(
      contentOf({
        content: [
          { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
          { type: 'new', x: 1 },
        ],
      }),
    ).toEqual([text('[audio (audio/wav, 3 bytes): this model does not take audio]\n{"type":"new","x":1}')]);
    expect(contentOf({})).toEqual([text('(the tool gave no content)')]);
  });
});
