import { execFileSync } from 'node:child_process';
import { chmod, mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { errorMessage } from '../../../src/shared/errors/skillmill-error.js';
import { readHostFiles } from '../../../src/worker/workspace/host-files.js';
import { InputRoom } from '../../../src/worker/workspace/input-room.js';
import { tempDir } from '../../support/temp-dir.js';

let root: string;
let open: string;
beforeEach(async () => {
  root = await tempDir();
  open = join(root, 'open');
  await mkdir(join(open, 'd'), { recursive: true });
  await writeFile(join(root, 'secret'), 'secret');
  await writeFile(join(open, 'a'), 'A');
  await writeFile(join(open, 'd', 'run'), 'R');
  await chmod(join(open, 'd', 'run'), 0o755);
});
const read = async (path: string, allowed = [open]) => {
  const files = await readHostFiles(path, allowed, new InputRoom());
  return files.map((file) => [file.path, file.content.toString(), file.executable]);
};

it('reads a file, and all of a folder', async () => {
  expect(await read(join(open, 'a'))).toEqual([['', 'A', false]]);
  expect(await read(open)).toEqual([
    ['a', 'A', false],
    ['d/run', 'R', true],
  ]);
});

it('follows links that stay, to files only', async () => {
  await symlink('../a', join(open, 'd', 'link'));
  expect(await read(join(open, 'd'))).toContainEqual(['link', 'A', false]);
  await symlink('.', join(open, 'd', 'ring'));
  await expect(read(join(open, 'd'))).rejects.toThrow(/ring.*neither/);
});

it.each(['secret', 'open/../secret', 'openx', ''])('refuses %j, which is outside', async (path) => {
  await writeFile(join(root, 'openx'), 'x');
  await expect(read(`${root}/${path}`)).rejects.toThrow(/may come from/);
});

it('tells what is outside in the same words whether it is there or not', async () => {
  const said = async (name: string) => {
    const told = read(join(root, name)).then(String, errorMessage);
    return (await told).replace(name, 'NAME');
  };
  expect(await said('absent')).toBe(await said('secret'));
});

it.each([
  ['a link to a file outside', (dir: string) => symlink(join(root, 'secret'), join(dir, 'x'))],
  ['a link to a folder outside', (dir: string) => symlink(root, join(dir, 'x'))],
])('refuses all for %s', async (_, make) => {
  await make(join(open, 'd'));
  await expect(read(join(open, 'd'))).rejects.toThrow(/leads out/);
  await expect(read(join(open, 'd', 'x'))).rejects.toThrow(/leads out/);
  await expect(read(join(open, 'd', 'x', 'secret'))).rejects.toThrow(/leads out|there is no/);
});

it('refuses a FIFO, and does not wait for it', async () => {
  execFileSync('mkfifo', [join(open, 'pipe')]);
  await expect(read(join(open, 'pipe'))).rejects.toThrow(/neither/);
});

it('refuses what is too large, and too many files', async () => {
  await truncate(join(open, 'a'), 64 * 1024 * 1024 + 1);
  await expect(read(join(open, 'a'))).rejects.toThrow(/too large/);
  await mkdir(join(open, 'many'));
  for (let n = 0; n <= 1000; n += 1) await writeFile(join(open, 'many', String(n)), '');
  await expect(read(join(open, 'many'))).rejects.toThrow(/1000 files/);
});

it('allows nothing where no folder is named, and a folder that is itself a link', async () => {
  await expect(read(join(open, 'a'), [])).rejects.toThrow(/not allowed here/);
  await symlink(open, join(root, 'alias'));
  expect(await read(join(root, 'alias', 'a'), [join(root, 'alias')])).toEqual([['', 'A', false]]);
});
