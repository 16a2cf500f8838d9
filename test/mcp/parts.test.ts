import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MessageLines } from '../../src/mcp/message-lines.ts';
import { namespaceOf, toolNameOf } from '../../src/mcp/names.ts';
import { serverKey } from '../../src/mcp/server-spec.ts';
import { readTool } from '../../src/mcp/tool-definition.ts';

describe('names', () => {
  it('[mcp.names.kept] a name that providers take stays as it is', () => {
    expect(namespaceOf('a-b')).toBe('mcp__a-b');
    expect(toolNameOf('mcp__x', 'get__thing')).toBe('get__thing');
  });

  it('[mcp.names.changed] any other carries a digest of the original', () => {
    expect(toolNameOf('mcp__x', 'calendar.update')).toMatch(/^calendar_update_[0-9a-f]{8}$/);
    expect(toolNameOf('mcp__x', '予定')).toMatch(/^[0-9a-f]{8}$/);
    expect(namespaceOf('acme_')).toMatch(/^mcp__acme_[0-9a-f]{8}$/);
  });

  it('[mcp.names.valid] every pair of names gives a valid flat name of at most 64 characters; distinct pairs stay distinct', () => {
    const pair = fc.tuple(fc.string({ minLength: 1, unit: 'grapheme' }), fc.string({ minLength: 1, maxLength: 120 }));
    const flat = ([server, tool]: [string, string]) => `${namespaceOf(server)}__${toolNameOf(namespaceOf(server), tool)}`;
    fc.assert(
      fc.property(pair, pair, (a, b) => {
        expect(flat(a)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        if (a[0] !== b[0] || a[1] !== b[1]) expect(flat(a)).not.toBe(flat(b));
      }),
    );
  });
});

describe('message lines', () => {
  const message = fc.record({ jsonrpc: fc.constant('2.0' as const), id: fc.nat(), result: fc.object() });

  it('[mcp.lines.chunks] messages come out whole and in order, however the bytes are cut and whatever noise lies between', () => {
    fc.assert(
      fc.property(fc.array(message), fc.array(fc.nat({ max: 50 }), { minLength: 1 }), (messages, cuts) => {
        const bytes = Buffer.from(messages.map((one) => `noise {\n${JSON.stringify(one)}\r\n`).join(''));
        const lines = new MessageLines();
        const out: unknown[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const next = at + 1 + cuts[i % cuts.length];
          out.push(...lines.push(bytes.subarray(at, next)));
          at = next;
        }
        expect(out).toEqual(JSON.parse(JSON.stringify(messages)));
        expect(lines.skipped).toBe(messages.length);
      }),
    );
  });

  it('[mcp.lines.batch] an array of messages is taken apart; values that are no messages are skipped', () => {
    const lines = new MessageLines();
    expect(lines.push(Buffer.from('[{"jsonrpc":"2.0","id":1,"result":{}},7]\n{"id":2}\n"text"\n'))).toEqual([
      { jsonrpc: '2.0', id: 1, result: {} },
    ]);
    expect(lines.skipped).toBe(2);
  });

  it('[mcp.lines.flood] a line without end is an error, not memory', () => {
    const lines = new MessageLines(1000);
    expect(() => {
      for (let i = 0; i < 3; i++) lines.push(Buffer.alloc(600, 'x'));
    }).toThrow('over 1000 bytes');
  });
});

describe('definitions', () => {
  it('[mcp.digest] the digest follows the meaning, not the order of members', () => {
    const tool = { name: 'a', description: 'b', inputSchema: { type: 'object', properties: {} } };
    const turned = { inputSchema: { properties: {}, type: 'object' }, description: 'b', name: 'a', _meta: { x: 1 } };
    expect(readTool(tool)?.digest).toBe(readTool(turned)?.digest);
    expect(readTool({ ...tool, description: 'c' })?.digest).not.toBe(readTool(tool)?.digest);
    expect(readTool({ ...tool, annotations: { readOnlyHint: true } })?.digest).not.toBe(readTool(tool)?.digest);
  });

  it('[mcp.hidden-text] characters that hide text are taken out of descriptions', () => {
    expect(readTool({ name: 'a', description: 'see\u202eme\u{e0041}\u0007' })?.description).toBe('seeme');
  });

  it('[mcp.key] environment and headers are part of the key, their order is not', () => {
    const stdio = (env: Record<string, string>) => serverKey({ type: 'stdio', argv: ['a'], cwd: '/', env });
    expect(stdio({ A: '1', B: '2' })).toBe(stdio({ B: '2', A: '1' }));
    expect(stdio({ A: '1' })).not.toBe(stdio({ A: '2' }));
  });
});
