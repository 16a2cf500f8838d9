// The life of threads at its edges: unloading, and turns that would begin while a thread is being put away.
import { describe, expect, it } from 'vitest';
import { frontend } from './support.ts';

describe('idle threads', () => {
  it('[review.unload-at-once] a thread that may not be idle at all is still there for who started it', async () => {
    const t = await frontend({ config: 'thread_unload_delay_secs = 0' }).start();
    expect((await t.turn('hello')).status).toBe('completed');
  });

  it('[review.unload-far] a delay longer than a timer goes does not unload at once', async () => {
    const t = await frontend({ config: 'thread_unload_delay_secs = 5000000' }).start();
    await t.turn('hello');
    await t.result('thread/unsubscribe', { threadId: t.threadId });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await t.result('thread/loaded/list', {})).data).toEqual([t.threadId]);
  });
});
