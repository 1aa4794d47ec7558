import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hostileCases } from '../support/hostile/hostile-cases.js';
import { securityRows } from '../support/hostile/security-table.js';
import { projectDir } from '../support/cli.js';

const cases = hostileCases();

it('docs/security.md lists every attack of the hostile suite', async () => {
  const markdown = await readFile(join(projectDir, 'docs', 'security.md'), 'utf8');
  const section = markdown.split('\n## What is attacked in the tests\n')[1]?.split('\n## ')[0];
  const rows = (section ?? '')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) => line.split(/(?<!\\)\|/).slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim().replaceAll('`', '')));
  expect(rows).toEqual(securityRows(cases));
});

it('each attack has a name of its own, and there are many', () => {
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
  expect(cases.length).toBeGreaterThanOrEqual(150);
});
