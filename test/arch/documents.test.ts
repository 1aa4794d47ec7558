import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { variableList } from '../../src/shared/config/env-schema.js';
import { projectDir } from './source-tree.js';

/** Rows of the table below a heading, each as its cells; head and rule left out, backticks taken off. */
function tableBelow(heading: string, markdown: string): string[][] {
  const section = markdown.split(`\n${heading}\n`)[1]?.split(/\n## /)[0] ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim().replaceAll('`', '')))
    .filter((cells) => /^[A-Z][A-Z0-9_]+$/.test(cells[0] ?? ''));
}

it('README’s table of settings is the one that the code reads', async () => {
  const readme = await readFile(join(projectDir, 'README.md'), 'utf8');
  const rows = tableBelow('## Settings', readme);
  const expected = variableList.map(([name, variable]) => [
    name,
    variable.default ?? '',
    variable.description.replaceAll('`', ''),
  ]);
  expect(rows.map((row) => row.map((cell) => (cell === '–' || cell === '-' ? '' : cell)))).toEqual(
    expected,
  );
});

it('every scenario file cites a requirement', async () => {
  const dir = join(projectDir, 'test', 'e2e', 'scenarios');
  const names = (await readdir(dir)).filter((name) => name.endsWith('.test.ts'));
  const silent: string[] = [];
  for (const name of names) {
    const text = await readFile(join(dir, name), 'utf8');
    if (!/\[[a-z]+(-[a-z]+)*(, [a-z]+(-[a-z]+)*)*\]['`]/.test(text)) silent.push(name);
  }
  expect(names.length).toBeGreaterThan(0);
  expect(silent).toEqual([]);
});
