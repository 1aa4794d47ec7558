import { readdir } from 'node:fs/promises';
import fc from 'fast-check';
import { expect, it, onTestFinished, vi } from 'vitest';
import { tempDir } from '../../support/temp-dir.js';
import { OutputSpill } from '../../../src/worker/workspace/output-spill.js';

function open(): OutputSpill {
  const spill = new OutputSpill();
  onTestFinished(() => spill.close());
  return spill;
}

it('keeps all that comes, whatever the pieces', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'binary', maxLength: 9000 }), { maxLength: 20 }),
      async (given) => {
        const pieces = given.map((text) => text.toWellFormed());
        const spill = open();
        for (const piece of pieces) spill.add(piece);
        expect((await spill.content()).toString('utf8')).toBe(pieces.join(''));
        expect(spill.isCut).toBe(false);
        spill.close();
      },
    ),
    { numRuns: 30 },
  );
});

it('stops at 8 MiB, between characters, and says so', async () => {
  const spill = open();
  spill.add('x');
  for (let n = 0; n < 10; n += 1) spill.add('ü'.repeat(512 * 1024));
  const content = await spill.content();
  expect(content.byteLength).toBe(8 * 1024 * 1024 - 1);
  expect(content.toString('utf8')).toMatch(/^xü+$/);
  expect(spill.isCut).toBe(true);
});

it('leaves no file behind, not even while it is open', async () => {
  const folder = await tempDir();
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const spill = open();
  spill.add('x'.repeat(100_000));
  expect(await readdir(folder)).toEqual([]);
  expect((await spill.content()).byteLength).toBe(100_000);
});
