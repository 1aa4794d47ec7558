import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Step } from '../../../examples/scripted-model.js';
import { turnResultSchema, type TurnResult } from '../../../src/shared/contracts/index.js';
import { openWorld, runs, type World } from '../../support/world.js';

let world: World;
let host: string;
beforeAll(async () => {
  host = await mkdtemp(join(tmpdir(), 'skillmill-host-'));
  await mkdir(join(host, 'open', 'deep'), { recursive: true });
  await writeFile(join(host, 'secret'), 'nobody sees this');
  await writeFile(join(host, 'open', 'a.txt'), 'of the host\n');
  await writeFile(join(host, 'open', 'deep', 'b.bin'), Buffer.from([0, 255, 1]));
  await mkdir(join(host, 'open', 'leaky'));
  await symlink(join(host, 'secret'), join(host, 'open', 'leaky', 'out'));
  world = await openWorld({ SKILLMILL_HOST_INPUTS: join(host, 'open') });
  await world.worker();
});
afterAll(async () => {
  await world.close();
  await rm(host, { recursive: true, force: true });
});

type Answer = Record<string, unknown> & { stdout: string; warnings: string[] };

async function turn(message: string, steps: Step[], session?: string): Promise<TurnResult> {
  world.script(message, [...steps, { text: 'done' }]);
  const more = session === undefined ? [] : ['--session', session];
  const outcome = await world.run(['run', message, '--json', ...more]);
  return turnResultSchema.parse(JSON.parse(outcome.stdout));
}
const answers = (result: TurnResult) => result.toolCalls.map((call) => call.result as Answer);

describe('inputs', () => {
  it('come from every allowed source, byte for byte [run-inputs]', async () => {
    const result = await turn('take inputs', [
      runs(
        'printf "\\0\\377x" > "$OUTPUT_DIR/made.bin"; mkdir -p "$WORK_DIR/d"; echo w > "$WORK_DIR/d/w"',
      ),
      runs(
        'cd "$WORK_DIR/inputs"; od -An -tx1 made.bin; cat d/w l/w b/a.txt; od -An -tx1 b/deep/b.bin; test -L l && echo linked; head -1 fib.py; test -x fib.py && echo executable; cat got.txt',
        {
          inputs: [
            { src: 'artifact://out/made.bin@0', pin: null },
            { src: 'workspace://work/d' },
            { from: 'workspace://$WORK_DIR/d', to: 'inputs/l', mode: 'link' },
            { src: `host://${host}/open/deep`, dst: 'b/deep' },
            { src: `host://${host}/open/a.txt`, dst: '$WORK_DIR/inputs/b/' },
            { src: `host://${host}/open/a.txt`, dst: 'got.txt', mode: '' },
            { src: 'skill://python-math/scripts/fib.py' },
          ],
        },
      ),
    ]);
    const [, taken] = answers(result);
    expect(result.toolCalls[1]?.error).toBeNull();
    const lines = taken?.stdout.split('\n').map((line) => line.trim());
    expect(lines).toEqual([
      ...['00 ff 78', 'w', 'w', 'of the host', '00 ff 01', 'linked', '#!/usr/bin/env python3'],
      ...['executable', 'of the host', ''],
    ]);
    expect(taken?.['staged_inputs']).toMatchObject([
      { name: 'work/inputs/made.bin', size_bytes: 3, version: 0 },
      { name: 'work/inputs/d', size_bytes: 2 },
      { name: 'work/inputs/l' },
      { name: 'work/inputs/b/deep', size_bytes: 3 },
      { name: 'work/inputs/b/a.txt' },
      { name: 'work/inputs/got.txt' },
      { name: 'work/inputs/fib.py' },
    ]);
  });

  it('come from nowhere else, and go nowhere else [run-inputs]', async () => {
    const wrong = [
      [{ src: 'host:///etc/passwd' }, /may come from/],
      [{ src: `host://${host}/open/../secret` }, /may come from/],
      [{ src: `host://${host}/open/leaky` }, /leads out/],
      [{ src: `host://${host}/open/none` }, /there is no/],
      [{ src: `host://${host}/open/a.txt`, dst: '../../x' }, /must be below/],
      [{ src: `host://${host}/open/a.txt`, dst: 'skills/user-file-ops/SKILL.md' }, /read-only/],
      [{ src: 'artifact://out/none.txt' }, /no artifact of this session/],
      [{ src: 'artifact://a@1@2' }, /one version/],
      [{ src: 'workspace://../../etc/passwd' }, /outside/],
      [{ src: 'skill://user-file-ops/../../x' }, /outside/],
      [{ src: 'skill://no-such-skill/x' }, /no skill/],
      [{ src: 'file:///etc/passwd' }, /must be artifact/],
    ] as const;
    const result = await turn(
      'take what is not ours',
      wrong.map(([input]) => runs('echo ran', { inputs: [input] })),
    );
    for (const [index, [input, why]] of wrong.entries()) {
      expect(result.toolCalls[index]?.error?.message, input.src).toMatch(why);
    }
    expect(JSON.stringify(result)).not.toMatch(/root:|nobody sees/);
  });

  it('come whole from a folder that stands beside ten thousand files [run-inputs]', async () => {
    const result = await turn('take a few of many', [
      runs(
        'cd "$WORK_DIR"; mkdir -p many/z; seq -f many/f%.0f 9999 | xargs touch; for n in a b; do echo $n > many/z/$n; done',
      ),
      runs('cat "$WORK_DIR"/inputs/z/*', { inputs: ['workspace://work/many/z'] }),
    ]);
    expect(answers(result)[1]?.stdout).toBe('a\nb\n');
  });

  it('keep to their pinned version in later turns [run-pin]', async () => {
    const write = (text: string) => runs(`echo ${text} > "$OUTPUT_DIR/v.txt"`);
    const read = (more = {}) =>
      runs('cat "$WORK_DIR/inputs/v.txt"', { inputs: [{ src: 'artifact://out/v.txt', ...more }] });
    await turn('pin it', [write('one'), read({ pin: true })], 'pins');
    const result = await turn('pinned still', [write('two'), read({ pin: true }), read()], 'pins');
    expect(answers(result).map(({ stdout }) => stdout)).toEqual(['', 'one\n', 'two\n']);
  });
});

describe('outputs', () => {
  it('are limited, named and told in a manifest [run-outputs]', async () => {
    const make =
      'cd "$WORK_DIR"; echo a > a.csv; echo b > b.csv; head -c 5000 /dev/zero > big.csv; printf "\\0\\1" > c.bin';
    const result = await turn('limit outputs', [
      runs(make, {
        outputs: {
          ...{ globs: ['$WORK_DIR/*.{csv,bin}'], max_files: 2, max_file_bytes: 1000, save: true },
          ...{ name_template: 'tables/{stem}-kept{ext}', inline: true, max_total_bytes: null },
        },
        artifact_prefix: 'run-1/',
      }),
      runs('true', { outputs: { globs: 'work/c.bin', save: true } }),
    ]);
    const [limited, binary] = answers(result);
    const name = (stem: string) => `run-1/tables/${stem}-kept.csv`;
    expect(limited?.['outputs']).toEqual({
      files: [
        { name: 'work/a.csv', mime_type: 'text/csv', size_bytes: 2, content: 'a\n', truncated: false, saved_as: name('a'), version: 0 },
        { name: 'work/b.csv', mime_type: 'text/csv', size_bytes: 2, content: 'b\n', truncated: false, saved_as: name('b'), version: 0 },
      ],
      limits_hit: true,
    }); // prettier-ignore
    expect(limited?.['output_files']).toMatchObject([{ content: '' }, { content: '' }]);
    expect(limited?.warnings.join('\n')).toMatch(/big\.csv.*over the limit of 1000/);
    expect(binary?.['outputs']).toMatchObject({
      files: [{ name: 'work/c.bin', saved_as: 'work/c.bin', size_bytes: 2 }],
      limits_hit: false,
    });
    expect(result.artifacts.map((artifact) => [artifact.name, artifact.sizeBytes])).toEqual([
      [name('a'), 2],
      [name('b'), 2],
      ['work/c.bin', 2],
    ]);
  });

  it('refuses names that leave their place [run-outputs]', async () => {
    const result = await turn('name badly', [
      runs('true', { artifact_prefix: '../../' }),
      runs('true', { outputs: { name_template: '/etc/{base}' } }),
    ]);
    for (const call of result.toolCalls) expect(call.error?.code).toBe('TOOL_INPUT_INVALID');
  });

  it('of a stream that is too long are whole in the run’s folder [run-output-whole]', async () => {
    const result = await turn('print much', [
      runs('for n in $(seq 20000); do echo "ünï $n"; done; echo short >&2'),
      (request) => {
        const said = JSON.stringify(request.messages.at(-1)?.content);
        const path = /\$WORKSPACE_DIR\/(runs\/run_\w+\/stdout\.txt)/.exec(said)?.[1] ?? 'none';
        return {
          calls: [
            {
              name: 'skill_run',
              arguments: {
                skill: 'user-file-ops',
                command: `wc -l < "$WORKSPACE_DIR/${path}"; sed -n 10000p "$WORKSPACE_DIR/${path}"`,
              },
            },
          ],
        };
      },
    ]);
    const [printed, read] = answers(result);
    expect(printed?.stdout).toMatch(/^ünï 1\n[^]*bytes left out[^]*ünï 20000\n$/);
    expect(printed?.stdout).not.toContain('\uFFFD');
    expect(printed?.['stderr']).toBe('short\n');
    expect(printed?.warnings).toEqual([
      expect.stringMatching(/^stdout truncated: \d+ of \d+ bytes/),
    ]);
    expect(read?.stdout).toBe('20000\nünï 10000\n');
  });
});

describe('a command', () => {
  it('that starts an editor gets the text [run-editor]', async () => {
    const text = "first $HOME 'x'\nsecond";
    const result = await turn('edit it', [
      runs(
        'echo old > "$WORK_DIR/my file"; $EDITOR +1 "$WORK_DIR/my file"; cat "$WORK_DIR/my file"; [ "$EDITOR" = "$VISUAL" ] && echo same',
        { editor_text: text },
      ),
      runs('true', { editor_text: text, env: { EDITOR: 'vi' } }),
    ]);
    expect(answers(result)[0]?.stdout).toBe(`${text}same\n`);
    expect(result.toolCalls[1]?.error?.message).toMatch(/EDITOR/);
  });

  it('finds its skill’s Python environment once it is there [run-venv]', async () => {
    const script = '#!/bin/sh\\necho from the environment';
    const result = await turn('make an environment', [
      runs('echo "[$VIRTUAL_ENV]"'),
      runs(
        `mkdir -p .venv/bin; printf '${script}\\n' > .venv/bin/mytool; chmod +x .venv/bin/mytool`,
      ),
      runs('mytool; echo "$VIRTUAL_ENV" | grep -c "user-file-ops/.venv"; cd / && mytool'),
    ]);
    const [before, , after] = answers(result);
    expect(before?.stdout).toBe('[]\n');
    expect(after?.stdout).toBe('from the environment\n1\nfrom the environment\n');
  });
});
