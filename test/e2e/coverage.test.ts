import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { requirements } from './requirements.js';

it('every promise is cited by a scenario, and every cited promise exists', async () => {
  const dir = join(import.meta.dirname, 'scenarios');
  const texts = await Promise.all(
    (await readdir(dir)).map((name) => readFile(join(dir, name), 'utf8')),
  );
  const cited = new Set(
    texts.flatMap((source) =>
      [...source.matchAll(/ \[([a-z-]+(?:, [a-z-]+)*)\]'/g)].flatMap((match) =>
        (match[1] ?? '').split(', '),
      ),
    ),
  );
  const promised = Object.keys(requirements);
  expect(promised.filter((id) => !cited.has(id))).toEqual([]);
  expect([...cited].filter((id) => !promised.includes(id))).toEqual([]);
});
