import { describe, expect, it } from 'vitest';
import { CatalogueFiles } from '../../src/mcp/catalogue-cache.ts';
import { McpPool } from '../../src/mcp/pool.ts';
import type { ServerState } from '../../src/mcp/server.ts';
import type { OpenTransport } from '../../src/mcp/transport-port.ts';
import { alive, bench, call, forever, said, until } from './support.ts';

describe('a server of the pool', () => {
  it('[mcp.start] comes up with the tools of all pages; an entry without a name is a problem, not a failure', async () => {
    const { pool, spec, cwd } = bench();
    const { server } = pool.acquire(spec(['--noise']), cwd);
    const states: ServerState[] = [];
    server.observe({ onState: (state) => states.push(state) });
    await server.settled(forever());
    expect(states).toEqual([{ type: 'ready' }]);
    expect(server.catalogue?.tools.map(({ name }) => name)).toEqual(['echo', 'grow']);
    expect(server.catalogue?.instructions).toBe('Be kind.');
    expect(server.catalogue?.problems).toEqual(['entry 1 of its tool list has no name']);
    expect(await call(server, 'echo', { text: 'hi' })).toEqual(said('echo hi'));
  });

  it('[mcp.start.fails] a server that dies says why, with the end of its stderr', async () => {
    const { pool, spec, cwd } = bench();
    const { server } = pool.acquire(spec(['--dies']), cwd);
    await server.settled(forever());
    expect(server.state).toEqual({
      type: 'failed',
      error: 'the server exited with code 3; it said: no database here',
      needsLogin: false,
    });
    await expect(call(server, 'echo')).rejects.toMatchObject({ kind: 'startup' });
  });

  it('[mcp.start.timeout] a mute server fails after its time and leaves no process', async () => {
    const { pool, spec, cwd, logged } = bench();
    const { server } = pool.acquire(spec(['--mute'], { startupTimeoutMs: 300 }), cwd);
    await server.settled(forever());
    expect(server.state).toMatchObject({ type: 'failed', error: expect.stringContaining('startup_timeout_sec') });
    await until(() => !logged('start').some(({ pid }) => alive(pid as number)));
  });

  it('[mcp.respawn] a crash fails the call under way as lost; the next call starts it again', async () => {
    const { pool, spec, cwd, logged } = bench();
    const { server } = pool.acquire(spec(), cwd);
    await server.settled(forever());
    const before = await call(server, 'pid');
    await expect(call(server, 'crash')).rejects.toMatchObject({ kind: 'lost' });
    expect(server.state).toEqual({ type: 'down', error: 'the server exited with code 9' });
    const after = await call(server, 'pid');
    expect(after).not.toEqual(before);
    expect(logged('start')).toHaveLength(2);
  });

  it('[mcp.cancel] an abort settles at once and tells the server which request it was', async () => {
    const { pool, spec, cwd, logged } = bench();
    const { server } = pool.acquire(spec(), cwd);
    await server.settled(forever());
    const abort = new AbortController();
    const hanging = call(server, 'hang', {}, { signal: abort.signal });
    await until(() => logged('call').length === 1);
    abort.abort();
    await expect(hanging).rejects.toMatchObject({ kind: 'cancelled' });
    await until(() => logged('notified').some(({ method }) => method === 'notifications/cancelled'));
    const cancelled = logged('notified').find(({ method }) => method === 'notifications/cancelled');
    expect(cancelled).toMatchObject({ params: { requestId: logged('call')[0].id } });
    expect(await call(server, 'echo', { text: 'still' })).toEqual(said('echo still'));
  });

  it('[mcp.timeout] a call ends after its limit, unless it reports progress', async () => {
    const { pool, spec, cwd } = bench();
    const { server } = pool.acquire(spec(), cwd);
    await server.settled(forever());
    await expect(call(server, 'hang', {}, { timeoutMs: 200 })).rejects.toMatchObject({ kind: 'timeout' });
    const seen: string[] = [];
    const steady = await call(server, 'steady', {}, { timeoutMs: 400, onProgress: (message) => seen.push(message) });
    expect(steady).toEqual(said('done'));
    expect(seen).toEqual(['1/6', '2/6', '3/6', '4/6', '5/6', '6/6']);
  });

  it('[mcp.progress.last] progress that comes in one piece with the result is not lost', async () => {
    const { pool, spec, cwd } = bench();
    const { server } = pool.acquire(spec(), cwd);
    await server.settled(forever());
    const seen: string[] = [];
    await call(server, 'report', {}, { onProgress: (message) => seen.push(message) });
    expect(seen).toEqual(['step 1', 'step 2', 'step 3']);
  });

  it('[mcp.list-changed] a flood of announcements is read in few lists; settled waits for the new one', async () => {
    const { pool, spec, cwd, logged } = bench();
    const { server } = pool.acquire(spec(), cwd);
    await server.settled(forever());
    const before = server.catalogue;
    const lists = logged('listed').length;
    await call(server, 'grow');
    await server.settled(forever());
    expect(server.catalogue).not.toBe(before);
    expect(server.catalogue?.tools.map(({ name }) => name)).toEqual(['echo', 'grow', 'grown']);
    expect(logged('listed').length - lists).toBeLessThanOrEqual(6);
  });

  it('[mcp.big] a result of 12 MB arrives whole', async () => {
    const { pool, spec, cwd } = bench();
    const { server } = pool.acquire(spec(), cwd);
    const result = await call(server, 'big', { size: 12_000_000 });
    expect((result.content as { text: string }[])[0].text).toHaveLength(12_000_000);
  });

  it('[mcp.asks] questions go to the caller, roots are the folders of its threads, sampling is refused', async () => {
    const { pool, spec, cwd } = bench();
    const { server } = pool.acquire(spec(), cwd);
    const caller = { elicit: async ({ message }: Record<string, unknown>) => ({ action: 'accept', content: { to: message } }) };
    expect(await call(server, 'ask', {}, { caller })).toEqual(said('{"action":"accept","content":{"to":"Name?"}}'));
    expect(await call(server, 'roots')).toEqual(said(JSON.stringify({ roots: [{ uri: `file://${cwd}`, name: cwd.split('/').at(-1) }] })));
    const refused = (await call(server, 'sample')) as { content: { text: string }[] };
    expect(JSON.parse(refused.content[0].text)).toMatchObject({ code: -32601 });
  });

  it('[mcp.asks.clock] the time limit stands still while a person is asked', async () => {
    const { pool, spec, cwd } = bench();
    const { server } = pool.acquire(spec(), cwd);
    await server.settled(forever());
    const elicit = async () => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      return { action: 'decline' };
    };
    expect(await call(server, 'ask', {}, { caller: { elicit }, timeoutMs: 200 })).toEqual(said('{"action":"decline"}'));
  });
});

describe('the pool', () => {
  it('[mcp.shared] one process for all that agree on the key, another for one that does not', async () => {
    const { pool, spec, cwd, logged } = bench();
    const leases = Array.from({ length: 20 }, () => pool.acquire(spec(), cwd));
    const other = pool.acquire(spec(['--noise']), cwd);
    await Promise.all([...leases, other].map(({ server }) => server.settled(forever())));
    expect(new Set(leases.map(({ server }) => server)).size).toBe(1);
    expect(logged('start')).toHaveLength(2);
  });

  it('[mcp.reaped] a server that nobody holds is ended; a lease within the time keeps it', async () => {
    const { pool, spec, cwd, logged } = bench({ lingerMs: 200 });
    const first = pool.acquire(spec(), cwd);
    await first.server.settled(forever());
    first.release();
    const second = pool.acquire(spec(), cwd);
    expect(second.server).toBe(first.server);
    second.release();
    await until(() => pool.size === 0);
    expect(logged('start').filter(({ pid }) => alive(pid as number))).toEqual([]);
  });

  it('[mcp.cache] what a server offered is known before it is up again, and gone when it does not come up', async () => {
    const first = bench();
    const cache = new CatalogueFiles(`${first.cwd}/cache`);
    const pool = (open: OpenTransport) => new McpPool(open, { cache });
    const { server } = first.pool.acquire(first.spec(), first.cwd);
    await server.settled(forever());
    const known = server.catalogue;
    if (!known) throw new Error('nothing is known');
    await cache.save(server.key, known);
    const never = pool(async () => new Promise(() => {})).acquire(first.spec(), first.cwd).server;
    expect(never.state).toEqual({ type: 'starting' });
    expect(never.catalogue).toEqual({ ...known, problems: [] });
    const broken = pool(() => Promise.reject(new Error('gone'))).acquire(first.spec(), first.cwd).server;
    await broken.settled(forever());
    expect([broken.state, broken.catalogue]).toEqual([{ type: 'failed', error: 'gone', needsLogin: false }, null]);
    await never.close();
  });

  it('[mcp.retire] after a reload new leases get a new process; a call under way ends at the old one', async () => {
    const { pool, spec, cwd } = bench();
    const old = pool.acquire(spec(), cwd);
    await old.server.settled(forever());
    const steady = call(old.server, 'steady');
    pool.retire();
    const fresh = pool.acquire(spec(), cwd);
    old.release();
    expect(fresh.server).not.toBe(old.server);
    expect(await steady).toEqual(said('done'));
    await until(() => pool.size === 1);
    expect(old.server.state).toEqual({ type: 'closed' });
  });

  it('[mcp.closed] nothing is left after the end, whatever was under way', async () => {
    const { pool, spec, cwd, logged } = bench();
    const { server } = pool.acquire(spec(), cwd);
    pool.acquire(spec(['--mute']), cwd);
    await server.settled(forever());
    const hanging = call(server, 'hang').catch((error: unknown) => error);
    await until(() => logged('call').length === 1 && logged('start').length === 2);
    await pool.closeAll();
    expect(await hanging).toMatchObject({ kind: 'lost' });
    expect(logged('start').filter(({ pid }) => alive(pid as number))).toEqual([]);
  });
});
