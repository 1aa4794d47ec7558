import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSkillRepository } from '../../../src/shared/skills/skill-repository.js';

const examples = join(import.meta.dirname, '../../../examples/skills');
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skills examples-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = (skill: string, command: string) =>
  spawnSync('bash', ['-c', command], {
    cwd: join(examples, skill),
    env: { ...process.env, F: folder },
    encoding: 'utf8',
  });

it('the repository reads them without a diagnostic', async () => {
  const repository = openSkillRepository([examples]);
  const { skills, diagnostics } = await repository.snapshot();
  await repository.close();
  expect(skills.map(({ name, docs, tools }) => [name, docs, tools])).toEqual([
    ['file-tools', ['docs/USAGE.md'], []],
    ['python-math', [], []],
    ['user-file-ops', [], []],
    ['weather-tools', [], ['search_city_by_name', 'get_current_weather', 'get_weather_forecast']],
  ]);
  expect(diagnostics).toEqual([]);
});

describe('summarize_file.sh', () => {
  const script = 'scripts/summarize_file.sh';

  it('is executable, and asks for both arguments', () => {
    expect(statSync(join(examples, 'user-file-ops', script)).mode & 0o111).toBe(0o111);
    for (const wrong of ['', '"$F/a"', '"" ""', 'a b c']) {
      expect(run('user-file-ops', `${script} ${wrong}`)).toMatchObject({ status: 2, stdout: '' });
    }
    const missing = run('user-file-ops', `${script} "$F/none" "$F/out"`);
    expect(missing.status).toBe(1);
    expect(missing.stderr).toContain('cannot read file');
  });

  it('counts right with spaces in names and without a last newline', () => {
    writeFileSync(join(folder, 'my notes.txt'), 'é b\n\n  \nlast');
    expect(run('user-file-ops', `${script} "$F/my notes.txt" "$F/o ut/s.txt"`).status).toBe(0);
    expect(readFileSync(join(folder, 'o ut/s.txt'), 'utf8')).toBe(
      'File: my notes.txt\nLines: 4\nWords: 3\nBytes: 13\n\nFirst non-empty lines:\n1: é b\n2: last\n',
    );
  });

  it('shows 20 lines at most, and nothing of an empty file', () => {
    writeFileSync(
      join(folder, 'long'),
      Array.from({ length: 50_000 }, (_, at) => `l${at}\n`).join(''),
    );
    writeFileSync(join(folder, 'empty'), '');
    expect(
      run('user-file-ops', `${script} "$F/long" "$F/out" && ${script} "$F/empty" "$F/out2"`).status,
    ).toBe(0);
    const summary = readFileSync(join(folder, 'out'), 'utf8');
    expect(summary).toContain('Lines: 50000\n');
    expect(summary.endsWith('\n20: l19\n')).toBe(true);
    expect(readFileSync(join(folder, 'out2'), 'utf8')).toContain('Lines: 0\nWords: 0\nBytes: 0\n');
  });
});

it('fib.py prints the first N, and refuses what is no N', () => {
  expect(run('python-math', 'python3 scripts/fib.py 10').stdout).toBe(
    '0\n1\n1\n2\n3\n5\n8\n13\n21\n34\n',
  );
  expect(run('python-math', 'python3 scripts/fib.py 0')).toMatchObject({ status: 0, stdout: '' });
  const wrong = '"" x -1 1.5 10001 "1 2" ²';
  const each = run(
    'python-math',
    `python3 scripts/fib.py; echo $?; for n in ${wrong}; do python3 scripts/fib.py "$n"; echo $?; done`,
  );
  expect(each.stdout).toBe('2\n'.repeat(8));
  expect(each.stderr.match(/usage:/g)).toHaveLength(8);
}, 60_000);

it('file-tools find, sort and pack', () => {
  writeFileSync(join(folder, 'a b.txt'), 'z\na\nz');
  writeFileSync(join(folder, 'c'), 'x');
  expect(run('file-tools', 'scripts/find_large.sh "$F" 1').stdout).toBe('5\ta b.txt\n');
  expect(run('file-tools', 'scripts/unique_lines.sh "$F/a b.txt" "$F/u"').stdout).toContain(
    '3 lines in, 2 lines out',
  );
  expect(readFileSync(join(folder, 'u'), 'utf8')).toBe('a\nz\n');
  const packed = run(
    'file-tools',
    'out=$(mktemp -d) && scripts/pack_folder.sh "$F" "$out/p.tgz" && tar tzf "$out/p.tgz" | wc -l; rm -r "$out"',
  );
  expect(packed.stdout.trim().endsWith('4')).toBe(true);
  expect(run('file-tools', 'scripts/pack_folder.sh "$F" "$F/p.tgz"').status).toBe(1);
  for (const script of ['find_large', 'unique_lines', 'pack_folder']) {
    expect(run('file-tools', `scripts/${script}.sh`).status).toBe(2);
  }
});
