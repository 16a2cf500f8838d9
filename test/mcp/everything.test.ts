// A server that we did not write: the reference server of the protocol, through a whole turn.
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { TestFrontend } from '../spine/client.ts';

const SERVER = path.join(import.meta.dirname, '..', '..', 'node_modules', '@modelcontextprotocol', 'server-everything', 'dist', 'index.js');
const open: TestFrontend[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.dispose()));
});

function frontend(script: Record<string, unknown>[]): TestFrontend {
  const provider = `[mcp_servers.everything]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(SERVER)}, "stdio"]\nstartup_timeout_sec = 20`;
  const t = new TestFrontend({ script, provider });
  open.push(t);
  return t;
}

describe('the reference server', () => {
  it('[mcp.everything] its tools are listed, a call is asked for, answered and read', async () => {
    const call = { call: 'echo', namespace: 'mcp__everything', args: { message: 'hello there' }, id: 'call_1' };
    const t = await frontend([call, { say: 'done' }]).start();
    await t.seen('mcpServer/startupStatus/updated', ({ status }) => status === 'ready');
    const status = (await t.result('mcpServerStatus/list', {})).data[0];
    expect(status.name).toBe('everything');
    expect(Object.keys(status.tools)).toContain('echo');
    t.answers.set('mcpServer/elicitation/request', () => ({ action: 'accept', content: {} }));
    expect((await t.turn('go')).status).toBe('completed');
    const item = t.items('mcpToolCall')[0];
    expect([item.server, item.tool, item.status]).toEqual(['everything', 'echo', 'completed']);
    expect(JSON.stringify(item.result.content)).toContain('hello there');
  });
});
