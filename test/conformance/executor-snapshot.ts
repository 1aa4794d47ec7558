import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import type { RestoredEntry, SeenEntry, Tree } from '../../src/worker/executor/executor.js';
import { out, withSandbox, type ExecutorHarness } from './executor-harness.js';

/** Without runs/, where a folder for the next command comes and goes. */
const roots = ['work', 'out'];

/** All that a snapshot would keep of a sandbox: what a scan shows, with the files' bytes. */
type Kept = readonly { readonly entry: SeenEntry; readonly bytes: Buffer }[];

/** What holds for looking at, fetching and putting back a whole workspace in every sandbox. */
export function snapshotSuite(harness: ExecutorHarness): void {
  const executor = harness.makeExecutor();

  afterEach(async () => expect(await harness.leftovers()).toEqual([]));

  const keep = async (line: string): Promise<{ kept: Kept; tree: Tree }> =>
    withSandbox(executor, async (sandbox) => {
      await out(sandbox, line);
      const tree = await sandbox.scan(roots);
      const files = tree.entries.filter((entry) => entry.kind === 'file');
      const contents = new Map<string, Buffer>();
      for await (const file of sandbox.fetch(files, tree)) {
        if ('error' in file) throw new Error(`${file.path}: ${file.error}`);
        contents.set(file.path, await buffer(file.content));
      }
      // Looking has changed nothing that anybody else sees.
      expect(withoutPrints(await sandbox.scan(roots))).toEqual(withoutPrints(tree));
      const bytesOf = (path: string) => contents.get(path) ?? Buffer.alloc(0);
      return { tree, kept: tree.entries.map((entry) => ({ entry, bytes: bytesOf(entry.path) })) };
    });

  describe('scan, fetch and restore', () => {
    it('give a workspace back as it was: bytes, modes, times, links, empty folders, odd names', async () => {
      const { kept, tree } = await keep(
        `mkdir -p sub/deep empty ../out/o; printf 'a\\0b\\377' > sub/bytes; : > none; echo run > tool; chmod 4751 tool
         echo q > 'odd name
with newline ünï "q" *'; echo d > -dash; ln -s sub/bytes near; ln -s /etc/passwd far; ln -s nowhere broken; ln tool twin
         head -c 3000000 /dev/urandom > big; echo 0 > closed; echo deep > sub/deep/f; echo o > ../out/o/f
         touch -d '2001-02-03 04:05:06.123456' sub/bytes; touch -h -d '1999-01-02 03:04:05' near; touch -d '2055-01-01' tool; touch -d '1960-01-01 00:00:00.25' none; touch -d '@-0.75' -- -dash
         n=work/$(printf 'x%.0s' $(seq 120)); mkdir -p "../$n"; echo long > "../$n/$(printf 'y%.0s' $(seq 200))"
         chmod 0 closed sub/deep; chmod 555 empty; touch -d '2003-03-03' sub; chmod 700 sub; chmod 000 ../out/o`,
      );
      expect(tree).toMatchObject({ skipped: [], truncated: false });
      const again = await withSandbox(executor, async (sandbox) => {
        await sandbox.restore(entriesOf(kept));
        const seen = await sandbox.scan(roots);
        const bytes = await out(
          sandbox,
          'cat sub/bytes near | od -c | head -3; ./tool 2>&1; cat twin',
        );
        return { seen, bytes };
      });
      expect(comparable(again.seen)).toEqual(comparable(tree));
      expect(again.bytes).toContain('a  \\0   b 377   a');
      expect(again.bytes.endsWith('run\n')).toBe(true);
      expect(kept.find(({ entry }) => entry.path === 'work/sub/deep/f')?.bytes.toString()).toBe(
        'deep\n',
      );
      expect(kept.find(({ entry }) => entry.path === 'work/big')?.bytes).toHaveLength(3_000_000);
      const modeOf = (path: string) => tree.entries.find((entry) => entry.path === path)?.mode;
      expect(['work/closed', 'work/sub/deep', 'out/o', 'work/empty'].map(modeOf)).toEqual([
        0, 0, 0, 0o555,
      ]);
    });

    it('hold what lies in a folder of the workspace that a command has closed itself', async () => {
      const { kept } = await keep('echo o > ../out/o; echo w > w; chmod 000 ../out .');
      const bytesOf = (path: string) => kept.find(({ entry }) => entry.path === path)?.bytes;
      expect(['work/w', 'out/o'].map((path) => bytesOf(path)?.toString())).toEqual(['w\n', 'o\n']);
    });

    it('say what cannot be kept, and leave the folders themselves out', async () => {
      const { tree } = await keep(
        `mkfifo pipe; touch "$(printf 'bad\\377name')"; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("s")' 2>/dev/null; echo ok > f; rm -f s`,
      );
      expect([...tree.skipped].sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
        { path: 'work/bad\uFFFDname', reason: 'a name that is not UTF-8' },
        { path: 'work/pipe', reason: 'a FIFO' },
      ]);
      expect(tree.entries.map((entry) => entry.path)).toEqual(['work/f', 'work/inputs']);
    });

    it('tell what a command has changed, and nothing else, from fingerprints', async () => {
      await withSandbox(executor, async (sandbox) => {
        await out(sandbox, 'echo 1 > a; echo 1 > b; echo 1 > c; touch -d 2001-01-01 a b c');
        const before = await sandbox.scan(['work']);
        await out(
          sandbox,
          'cat a > /dev/null; echo 2 > b; touch -d 2001-01-01 b; cp -p a n; mv n c',
        );
        const after = await sandbox.scan(['work']);
        const printOf = ({ entries }: Tree, path: string) =>
          entries.find((entry) => entry.path === path)?.fingerprint;
        const isSame = ['work/a', 'work/b', 'work/c'].map(
          (path) => printOf(before, path) === printOf(after, path),
        );
        expect(isSame).toEqual([true, false, false]);
      });
    });

    it('fail with what a content fails with, and go on with the next request', async () => {
      await withSandbox(executor, async (sandbox) => {
        const entry = { ...{ path: 'work/f', kind: 'file' as const, mode: 0o644 }, ...times };
        const failing = async function* (): AsyncGenerator<Uint8Array> {
          yield await Promise.resolve(Buffer.alloc(1000));
          throw new Error('the store went away');
        };
        const entries = async function* (): AsyncGenerator<RestoredEntry> {
          yield await Promise.resolve({ entry: { ...entry, sizeBytes: 2000 }, content: failing() });
        };
        await expect(sandbox.restore(entries())).rejects.toThrow('the store went away');
        expect(await out(sandbox, 'echo lives')).toBe('lives\n');
      });
    });
  });
}

const times = { mtime: '1000000000.000000000', sizeBytes: 0 };

async function* entriesOf(kept: Kept): AsyncGenerator<RestoredEntry> {
  const ofLayout = new Set(['work/inputs']);
  for (const { entry, bytes } of kept) {
    if (ofLayout.has(entry.path)) continue;
    yield await Promise.resolve({ entry, content: pieces(bytes) });
  }
}

async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 100_000) {
    yield await Promise.resolve(bytes.subarray(at, at + 100_000));
  }
}

/** What must be the same in another sandbox; times to the microsecond, as the local executor keeps them. */
function comparable({ entries }: Tree) {
  return entries
    .filter(({ path }) => path !== 'work/inputs')
    .map((entry) => ({ ...entry, fingerprint: '', mtime: entry.mtime.slice(0, -3) }));
}

/** Opening and closing a file changes its status, hence its fingerprint. */
function withoutPrints(tree: Tree) {
  return { ...tree, entries: tree.entries.map((entry) => ({ ...entry, fingerprint: '' })) };
}
