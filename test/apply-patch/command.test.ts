import { expect, it } from 'vitest';
import { add, applied, calls, functionCall, patchCall, update, Workbench } from './workbench.ts';

const exec = (cmd: string, more: Record<string, unknown> = {}) => functionCall('exec_command', { cmd, ...more });
const heredoc = (text: string): string => `apply_patch <<'EOF'\n${text}EOF`;
const inCommand = (...lines: string[]): string => `Wall time: T seconds\nOutput:\n${applied(...lines)}`;

it('[patch-tool.command] a patch in a command is a file change: verified, with folders from workdir and cd, through a nested shell too', async () => {
  const t = await Workbench.open({ files: { 'sub/deep/s.txt': 's\n' } });
  const list = [
    exec(heredoc(add('h1.txt', 'h1'))),
    exec(`cd deep && ${heredoc(update('s.txt', 's', 'S'))}`, { workdir: 'sub' }),
    exec(`bash -lc "apply_patch <<'EOF'\n${add('h2.txt', 'h2')}EOF"`),
    exec(heredoc(update('h1.txt', 'zzz', 'x'))),
  ];
  await t.turn(...list.map((call) => calls(call)));
  expect(t.changes()).toEqual([
    [list[0].id, 'completed', ['add h1.txt']],
    [list[1].id, 'completed', ['update sub/deep/s.txt']],
    [list[2].id, 'completed', ['add h2.txt']],
    [list[3].id, 'failed', ['update h1.txt']],
  ]);
  expect(list.slice(0, 3).map(({ id }) => t.read(id))).toEqual([inCommand('A h1.txt'), inCommand('M s.txt'), inCommand('A h2.txt')]);
  expect(t.read(list[3].id)).toMatch(/^apply_patch verification failed: /);
  expect(t.all('item/started').filter(({ item }) => item.type === 'commandExecution')).toEqual([]);
  expect(t.all('turn/diff/updated').length).toBe(3);
});

it('[patch-tool.command-approval] a patch in a command is asked for as a file change, and may be declined', async () => {
  const t = await Workbench.open();
  t.answer = (method) => (method === 'item/fileChange/requestApproval' ? { decision: 'decline' } : undefined);
  const call = exec(`cd .. && ${heredoc(add('esc.txt', 'x'))}`);
  await t.turn(calls(call));
  expect(t.changes()).toEqual([[call.id, 'declined', ['add ../esc.txt']]]);
  expect([t.file('../esc.txt'), t.read(call.id)]).toEqual([
    null,
    expect.stringMatching(/^The user declined this call\. Nothing was run\./),
  ]);
});

it('[patch-tool.command-refused] a raw patch as a command, and one among other commands, run nothing and teach the tool', async () => {
  const t = await Workbench.open();
  const [raw, more] = [exec(add('raw.txt', 'x')), exec(`${heredoc(add('m.txt', 'x'))}\ntouch ran`)];
  await t.turn(calls(raw), calls(more));
  expect(t.read(raw.id)).toMatch(/^A patch was given as a shell command, .* Nothing was run\. Call the apply_patch tool/);
  expect(t.read(more.id)).toMatch(
    /^The script calls apply_patch together with other commands .* Nothing was run\. Call the apply_patch tool/,
  );
  expect([t.file('raw.txt'), t.file('m.txt'), t.file('ran')]).toEqual([null, null, null]);
  expect(t.changes()).toEqual([[raw.id, 'failed', ['add raw.txt']]]);
  expect(t.all('warning').map(({ message }) => message)).toEqual([
    expect.stringMatching(/^A command with a patch in it was refused: The script/),
  ]);
});

it('[patch-tool.command-never] under never a patch in a command is refused by policy, in its own words', async () => {
  const t = await Workbench.open({ approval: 'never', sandbox: 'read-only' });
  const list = [exec(heredoc(add('a.txt', 'x'))), patchCall(add('a.txt', 'x'))];
  await t.turn(...list.map((call) => calls(call)));
  const text = `patch rejected: the sandbox is read-only, and the patch writes ${t.at('a.txt')}, and the approval policy is never, so nobody can be asked for approval. Nothing was written. Change only what the sandbox lets you write, or say what you could not do.`;
  expect([list.map(({ id }) => t.read(id)), t.file('a.txt')]).toEqual([[text, text], null]);
});

it('[patch-tool.function-form] called as a function with one string it is applied; any other form is refused with the right one', async () => {
  const t = await Workbench.open();
  const list = [
    functionCall('apply_patch', { input: add('a.txt', 'a') }),
    functionCall('functions.apply_patch', { patch: add('b.txt', 'b') }),
    functionCall('apply_patch', { input: add('c.txt', 'c'), more: 1 }),
    patchCall(JSON.stringify({ input: add('d.txt', 'd') })),
  ];
  await t.turn(...list.map((call) => calls(call)));
  const reads = list.map(({ id }) => t.read(id));
  expect(reads.slice(0, 2)).toEqual([applied('A a.txt'), applied('A b.txt')]);
  expect(reads[2]).toMatch(/one raw text.* the single string argument "input"/);
  expect(reads[3]).toMatch(/but the text is JSON/);
  expect(['a.txt', 'b.txt', 'c.txt', 'd.txt'].map((name) => t.file(name))).toEqual(['a\n', 'b\n', null, null]);
});
