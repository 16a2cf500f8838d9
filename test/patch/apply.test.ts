import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { add, applyText, patch, scratch, tree, update } from './support.ts';

const success = (...lines: string[]): string => `Success. Updated the following files:\n${lines.map((line) => `${line}\n`).join('')}`;
const failed = 'apply_patch verification failed: ';

describe('kinds', () => {
  it('[patch.apply.many] one patch adds, updates, moves and deletes', async () => {
    const cwd = scratch({ 'up.txt': '1\n2\n', 'gone.txt': 'bye\n', 'from.txt': 'm\n' });
    const body = patch(
      '*** Add File: sub/new.txt',
      '+n',
      '*** Update File: up.txt',
      '@@',
      ' 1',
      '-2',
      '+two',
      '*** Delete File: gone.txt',
      '*** Update File: from.txt',
      '*** Move to: to.txt',
      '@@',
      '-m',
      '+M',
    );
    const { text, changes } = await applyText(cwd, body);
    expect(text).toBe(success('A sub/new.txt', 'M up.txt', 'D gone.txt', 'M to.txt'));
    expect(tree(cwd)).toEqual({ 'sub/new.txt': 'n\n', 'up.txt': '1\ntwo\n', 'to.txt': 'M\n' });
    expect(changes).toEqual([
      { path: `${cwd}/from.txt`, kind: { type: 'update', move_path: `${cwd}/to.txt` }, diff: '@@ -1 +1 @@\n-m\n+M\n' },
      { path: `${cwd}/gone.txt`, kind: { type: 'delete' }, diff: 'bye\n' },
      { path: `${cwd}/sub/new.txt`, kind: { type: 'add' }, diff: 'n\n' },
      { path: `${cwd}/up.txt`, kind: { type: 'update', move_path: null }, diff: '@@ -1,2 +1,2 @@\n 1\n-2\n+two\n' },
    ]);
  });

  it('[patch.apply.P5] an added file that exists is an overwrite, and called one', async () => {
    const cwd = scratch({ 'README.md': 'old text\n' });
    const { text, changes } = await applyText(cwd, add('README.md', 'new text'));
    expect(text).toBe(success('M README.md (overwrote)'));
    expect(changes).toEqual([
      { path: `${cwd}/README.md`, kind: { type: 'update', move_path: null }, diff: '@@ -1 +1 @@\n-old text\n+new text\n' },
    ]);
    expect(tree(cwd)).toEqual({ 'README.md': 'new text\n' });
  });

  it('[patch.apply.P6] a move onto itself is an update, however the path is written', async () => {
    const cwd = scratch({ a: 'x\ny\n' });
    fs.symlinkSync('.', path.join(cwd, 'here'));
    for (const [to, from, now] of [
      ['a', 'x', 'X'],
      ['./a', 'X', 'Y'],
      [path.join(cwd, 'a'), 'Y', 'Z'],
      ['here/a', 'Z', 'W'],
    ]) {
      const { text } = await applyText(cwd, update('a', `*** Move to: ${to}`, '@@', `-${from}`, `+${now}`));
      expect(text).toBe(success('M a'));
    }
    expect(tree(cwd)).toEqual({ a: 'W\ny\n', here: '-> .' });
  });

  it('[patch.apply.P7] a move onto another file is refused, also onto a hard link of the same file', async () => {
    const cwd = scratch({ a: 'x\n', b: 'precious\n' });
    fs.linkSync(path.join(cwd, 'a'), path.join(cwd, 'c'));
    for (const to of ['b', 'c']) {
      const { text } = await applyText(cwd, update('a', `*** Move to: ${to}`, '@@', '-x', '+X'));
      expect(text).toBe(
        `${failed}Failed to move ${cwd}/a to ${cwd}/${to}: a file of that name exists already. Choose another name, or delete that file first`,
      );
    }
    expect(tree(cwd)).toEqual({ a: 'x\n', b: 'precious\n', c: 'x\n' });
  });

  it('[patch.apply.P27] a move without hunks carries the bytes as they are', async () => {
    const bytes = Uint8Array.from([0xd6, 0xd0, 0, 13, 10, 10, 255]);
    const cwd = scratch({ 'bin.dat': bytes });
    fs.chmodSync(path.join(cwd, 'bin.dat'), 0o751);
    const { text, changes } = await applyText(cwd, update('bin.dat', '*** Move to: deep/er/bin.dat'));
    expect(text).toBe(success('M deep/er/bin.dat'));
    expect([...fs.readFileSync(path.join(cwd, 'deep/er/bin.dat'))]).toEqual([...bytes]);
    expect(fs.statSync(path.join(cwd, 'deep/er/bin.dat')).mode & 0o777).toBe(0o751);
    expect(fs.existsSync(path.join(cwd, 'bin.dat'))).toBe(false);
    expect(changes).toEqual([{ path: `${cwd}/bin.dat`, kind: { type: 'update', move_path: `${cwd}/deep/er/bin.dat` }, diff: '' }]);
  });

  it('[patch.apply.P1] added files keep the endings of the patch, moved ones those of the file', async () => {
    const cwd = scratch({ a: 'a\r\nb\r\n' });
    await applyText(cwd, add('n', 'x', 'y').replaceAll('\n', '\r\n'));
    await applyText(cwd, update('a', '*** Move to: m', '@@', '-b', '+B'));
    expect(tree(cwd)).toEqual({ n: 'x\r\ny\r\n', m: 'a\r\nB\r\n' });
  });
});

describe('refused before the first write', () => {
  const rows: [string, Record<string, string | Uint8Array>, string, (cwd: string) => string][] = [
    [
      'P8 one bad hunk',
      { a: 'a\n', b: 'b\n' },
      patch('*** Add File: n', '+n', '*** Update File: a', '@@', '-a', '+A', '*** Update File: b', '@@', '-wrong', '+B'),
      (cwd) =>
        `Failed to find expected lines in ${cwd}/b:\nwrong\n(hunk at line 9 of the patch; nothing like it is in the file: read it again)`,
    ],
    [
      'P14 not UTF-8',
      { 'gbk.txt': Uint8Array.from([0xd6, 0xd0, 10, 65, 10]) },
      update('gbk.txt', '@@', '-A', '+Z'),
      (cwd) =>
        `Failed to update ${cwd}/gbk.txt: the file is not UTF-8 text and is left untouched, since its encoding would be lost. Change it with a command that knows the encoding`,
    ],
    [
      'overwriting what is not UTF-8',
      { g: Uint8Array.from([0xff, 0]) },
      add('g', 'x'),
      (cwd) =>
        `Failed to write file ${cwd}/g: it exists and is not UTF-8 text, so what would be lost cannot be shown. Delete it in a patch of its own first`,
    ],
    [
      'missing to update',
      {},
      update('absent', '@@', '-x', '+y'),
      (cwd) => `Failed to read file to update ${cwd}/absent: No such file or directory. To make a new file use '*** Add File: {path}'`,
    ],
    ['missing to delete', {}, patch('*** Delete File: absent'), (cwd) => `Failed to read ${cwd}/absent: No such file or directory`],
    [
      'a folder in the way',
      { 'dir/keep': 'k\n', a: 'a\n' },
      patch('*** Update File: a', '@@', '-a', '+A', '*** Add File: dir', '+x'),
      (cwd) => `Failed to write file ${cwd}/dir: a folder of that name exists, and a patch changes files only`,
    ],
    [
      'a folder to delete',
      { 'dir/keep': 'k\n' },
      patch('*** Delete File: dir'),
      (cwd) => `Failed to delete file ${cwd}/dir: a folder of that name exists, and a patch changes files only`,
    ],
    ['a file as a folder', { a: 'a\n' }, add('a/b', 'x'), (cwd) => `Failed to write file ${cwd}/a/b: ${cwd}/a is a file, not a folder`],
    [
      'added twice',
      {},
      patch('*** Add File: a', '+1', '*** Add File: ./a', '+2'),
      (cwd) =>
        `Failed to write file ${cwd}/a: line 4 of the patch adds it, but an earlier section of the patch already wrote it. Name each file once`,
    ],
    [
      'updated after it was deleted',
      { a: 'a\n' },
      patch('*** Delete File: a', '*** Update File: a', '@@', '-a', '+b'),
      (cwd) => `Failed to read file to update ${cwd}/a: an earlier section of this patch removes it`,
    ],
    [
      'two files fail',
      { b: 'b\n' },
      patch('*** Delete File: x', '*** Update File: b', '@@', '-zzz', '+c'),
      (cwd) =>
        `Failed to read ${cwd}/x: No such file or directory\n\nFailed to find expected lines in ${cwd}/b:\nzzz\n(hunk at line 4 of the patch; nothing like it is in the file: read it again)`,
    ],
    [
      'a path that ends as a folder',
      {},
      add('d/', 'x'),
      () => 'd/ names a folder; a patch changes files only, and makes their folders by itself',
    ],
    ['NUL in a path', {}, add('a\0b', 'x'), () => 'Failed to resolve a\\0b: the path holds a NUL character'],
  ];
  it.each(rows)('[patch.plan] %s', async (_name, files, body, message) => {
    const cwd = scratch(files);
    const before = tree(cwd);
    const { text } = await applyText(cwd, body);
    expect(text).toBe(failed + message(cwd));
    expect(tree(cwd)).toEqual(before);
  });

  it('[patch.plan.cwd] a base folder that is not there', async () => {
    const cwd = path.join(scratch(), 'none');
    expect((await applyText(cwd, add('a', 'x'))).text).toBe(
      `${failed}The base folder ${cwd} does not exist; paths of a patch are relative to it`,
    );
    expect(fs.existsSync(cwd)).toBe(false);
  });

  it('[patch.plan.special] a pipe is not read', async () => {
    const cwd = scratch();
    const { execFileSync } = await import('node:child_process');
    execFileSync('mkfifo', [path.join(cwd, 'p')]);
    expect((await applyText(cwd, update('p', '@@', '-x', '+y'))).text).toBe(
      `${failed}Failed to read file to update ${cwd}/p: it is not a regular file (a device, pipe or socket)`,
    );
  });
});

describe('one file in several sections', () => {
  it('[patch.sequence] later sections see what earlier ones made of it', async () => {
    const cwd = scratch({ a: '1\n2\n3\n', b: 'b\n', c: 'c\n', d: 'd\n' });
    const body = patch(
      '*** Update File: a',
      '@@',
      '-3',
      '+three',
      '*** Update File: ./a',
      '@@',
      '-1',
      '+one',
      ' 2',
      ' three',
      '*** Add File: n',
      '+x',
      '*** Update File: n',
      '@@',
      '-x',
      '+y',
      '*** Update File: b',
      '*** Move to: bb',
      '*** Update File: bb',
      '@@',
      '-b',
      '+B',
      '*** Delete File: c',
      '*** Add File: c',
      '+C',
      '*** Update File: d',
      '@@',
      '-d',
      '+D',
      '*** Delete File: d',
    );
    const { text, changes } = await applyText(cwd, body);
    expect(text).toBe(success('M a', 'M ./a', 'A n', 'M n', 'M bb', 'D c', 'A c', 'M d', 'D d'));
    expect(tree(cwd)).toEqual({ a: 'one\n2\nthree\n', n: 'y\n', bb: 'B\n', c: 'C\n' });
    expect(changes).toEqual([
      { path: `${cwd}/a`, kind: { type: 'update', move_path: null }, diff: '@@ -1,3 +1,3 @@\n-1\n+one\n 2\n-3\n+three\n' },
      { path: `${cwd}/b`, kind: { type: 'update', move_path: `${cwd}/bb` }, diff: '@@ -1 +1 @@\n-b\n+B\n' },
      { path: `${cwd}/c`, kind: { type: 'update', move_path: null }, diff: '@@ -1 +1 @@\n-c\n+C\n' },
      { path: `${cwd}/d`, kind: { type: 'delete' }, diff: 'd\n' },
      { path: `${cwd}/n`, kind: { type: 'add' }, diff: 'y\n' },
    ]);
  });

  it('[patch.sequence.swap] two files change places through a third name', async () => {
    const cwd = scratch({ a: 'A\n', b: 'B\n' });
    const move = (from: string, to: string): string[] => [`*** Update File: ${from}`, `*** Move to: ${to}`];
    const { ok, changes } = await applyText(cwd, patch(...move('a', 't'), ...move('b', 'a'), ...move('t', 'b')));
    expect(ok).toBe(true);
    expect(tree(cwd)).toEqual({ a: 'B\n', b: 'A\n' });
    expect(changes.map((c) => [path.basename(c.path), c.kind])).toEqual([
      ['a', { type: 'update', move_path: null }],
      ['b', { type: 'update', move_path: null }],
    ]);
  });

  it('[patch.sequence.folder] a file makes room for a folder of its name', async () => {
    const cwd = scratch({ a: 'A\n' });
    expect((await applyText(cwd, patch('*** Delete File: a', '*** Add File: a/b', '+x'))).text).toBe(success('D a', 'A a/b'));
    expect(tree(cwd)).toEqual({ 'a/b': 'x\n' });
  });
});

describe('links, modes and real paths', () => {
  it('[patch.links] a link is written through and stays; deleted or moved, only the link goes', async () => {
    const cwd = scratch({ 'in.txt': 'in\n', 'run.sh': 'echo 1\n' });
    const at = (name: string): string => path.join(cwd, name);
    fs.symlinkSync('in.txt', at('link'));
    fs.symlinkSync('nowhere/new.txt', at('dangling'));
    fs.chmodSync(at('run.sh'), 0o755);
    const first = await applyText(
      cwd,
      patch(
        '*** Update File: link',
        '@@',
        '-in',
        '+IN',
        '*** Add File: dangling',
        '+made',
        '*** Update File: run.sh',
        '@@',
        '-echo 1',
        '+echo 2',
      ),
    );
    expect(first.ok).toBe(true);
    expect(tree(cwd)).toEqual({
      'in.txt': 'IN\n',
      link: '-> in.txt',
      dangling: '-> nowhere/new.txt',
      'nowhere/new.txt': 'made\n',
      'run.sh': 'echo 2\n',
    });
    expect(fs.statSync(at('run.sh')).mode & 0o777).toBe(0o755);
    expect(first.plan?.files.map((file) => file.affected)).toEqual([
      [at('link'), at('in.txt')],
      [at('dangling'), at('nowhere/new.txt')],
      [at('run.sh')],
    ]);
    expect(first.files.map((file) => file.path)).toEqual([at('in.txt'), at('nowhere/new.txt'), at('run.sh')]);
    const second = await applyText(cwd, patch('*** Update File: link', '*** Move to: copy', '*** Delete File: dangling'));
    expect(second.ok).toBe(true);
    expect(tree(cwd)).toEqual({ 'in.txt': 'IN\n', copy: 'IN\n', 'nowhere/new.txt': 'made\n', 'run.sh': 'echo 2\n' });
  });

  it('[patch.links.P21] what is affected is where the bytes would go, both ends of a move included', async () => {
    const root = scratch({ 'w/in.txt': 'in\n', 'out/secret': 's\n', 'out/dir/x': 'x\n' });
    const cwd = path.join(root, 'w');
    fs.symlinkSync(path.join(root, 'out/secret'), path.join(cwd, 'link'));
    fs.symlinkSync(path.join(root, 'out/dir'), path.join(cwd, 'linkdir'));
    fs.symlinkSync(path.join(root, 'out/nothing'), path.join(cwd, 'dangling'));
    const body = patch(
      '*** Update File: link',
      '@@',
      '-s',
      '+p',
      '*** Add File: linkdir/new/file',
      '+x',
      '*** Delete File: linkdir/x',
      '*** Add File: dangling',
      '+x',
      '*** Update File: in.txt',
      '*** Move to: ../out/moved',
    );
    const { plan } = await applyText(cwd, body);
    expect(plan?.files.map((file) => file.affected.map((at) => path.relative(root, at)))).toEqual([
      ['w/link', 'out/secret'],
      ['out/dir/new/file'],
      ['out/dir/x'],
      ['w/dangling', 'out/nothing'],
      ['w/in.txt', 'out/moved'],
    ]);
  });

  it('[patch.links.loop] a link that leads to itself is refused', async () => {
    const cwd = scratch();
    fs.symlinkSync('loop', path.join(cwd, 'loop'));
    expect((await applyText(cwd, add('loop', 'x'))).text).toBe(
      `${failed}Failed to write file ${cwd}/loop: Too many symbolic links (ELOOP)`,
    );
  });
});
