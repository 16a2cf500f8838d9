// Stored threads: what a list and a resume cost a daemon that was started just now.
import { messageItem } from '../lib/model-server.mjs';
import { writeLongThread, writeShortThreads } from '../lib/records.mjs';
import { elapsed, median, withDaemonIn, withHome } from './drive.mjs';

export const FIGURES = {
  listColdMs: { what: 'list page, 10 000 threads, first request of a daemon', unit: 'ms', most: 30 },
  listUpdatedMs: { what: 'the same by time of change, from the index', unit: 'ms' },
  listWarmMs: { what: 'the same page again', unit: 'ms' },
  resumeMs: { what: 'resume of 2 000 turns with excludeTurns', unit: 'ms', most: 100 },
};

const script = () => [messageItem('fine')];

/** Each round is a fresh daemon; what the first one leaves behind (an index) the others find. */
const listPage = (command, rounds = 7) =>
  withHome(async (home) => {
    writeShortThreads(home, home, 10_000);
    const request = async (daemon, params, expected) => {
      const { data } = await daemon.request('thread/list', params);
      if (data.length !== expected) throw new Error(`a page of ${data.length} threads`);
    };
    const [cold, updated, warm] = [[], [], []];
    for (let round = 0; round <= rounds; round++) {
      await withDaemonIn(home, { command, script }, async (daemon) => {
        await daemon.initialize();
        cold.push(await elapsed(() => request(daemon, {}, 25)));
        warm.push(await elapsed(() => request(daemon, {}, 25)));
      });
      await withDaemonIn(home, { command, script }, async (daemon) => {
        await daemon.initialize();
        updated.push(await elapsed(() => request(daemon, { sortKey: 'updated_at', limit: 50 }, 50)));
      });
    }
    return { listColdMs: median(cold.slice(1)), listUpdatedMs: median(updated.slice(1)), listWarmMs: median(warm.slice(1)) };
  });

const resume = (command, rounds = 7) =>
  withHome(async (home) => {
    const threadId = writeLongThread(home, home, 2_000);
    const times = [];
    for (let round = 0; round <= rounds; round++)
      await withDaemonIn(home, { command, script }, async (daemon) => {
        await daemon.initialize();
        times.push(await elapsed(() => daemon.request('thread/resume', { threadId, excludeTurns: true })));
      });
    return { resumeMs: median(times.slice(1)) };
  });

export const threadScenarios = { listPage, resume };
