import { createHash, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoMessage, demoScript } from '../../../examples/demo-script.js';
import { turnResultSchema } from '../../../src/shared/contracts/index.js';
import { projectDir } from '../../support/cli.js';
import { tempDir } from '../../support/temp-dir.js';
import { lastToolResult, openWorld, runs, type World } from '../../support/world.js';

const notes = join(projectDir, 'examples', 'user-notes.txt');

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await world.worker();
  world.script(
    'Summarise the text file',
    demoScript(demoMessage, { model: '', messages: [] }) ?? [],
  );
});
afterAll(() => world.close());

describe('one turn', () => {
  it('prints the answer and writes the files [run-answer, run-counts, no-sandbox-left]', async () => {
    const out = await tempDir();
    const outcome = await world.run(['run', demoMessage, '--file', notes, '--out', out]);
    expect(outcome).toMatchObject({ code: 0 });
    expect(outcome.stdout).toContain('I summarised the file');
    expect(outcome.stderr).not.toMatch(/\n\s+at /);

    const text = await readFile(notes, 'utf8');
    const summary = await readFile(join(out, 'out', 'user-notes-summary.txt'), 'utf8');
    const lines = text.split('\n').length - 1;
    const words = text.split(/\s+/).filter((word) => word !== '').length;
    expect(summary).toMatch(new RegExp(`^Lines: ${lines}$`, 'm'));
    expect(summary).toMatch(new RegExp(`^Words: ${words}$`, 'm'));
    expect(summary).toMatch(new RegExp(`^Bytes: ${Buffer.byteLength(text)}$`, 'm'));
    const nonEmpty = text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(0, 20);
    for (const [index, line] of nonEmpty.entries())
      expect(summary).toContain(`${index + 1}: ${line}`);
    await world.noSandboxLeft();
  });

  it('prints one JSON document with --json [run-json]', async () => {
    const outcome = await world.run(['run', demoMessage, '--file', notes, '--json']);
    expect(outcome.code).toBe(0);
    const result = turnResultSchema.parse(JSON.parse(outcome.stdout));
    expect(result).toMatchObject({
      status: 'completed',
      error: null,
      attempts: 1,
      usage: { modelCalls: 3, toolCalls: 2 },
      toolCalls: [
        { id: 'call_1', name: 'skill_load', error: null, attempt: 1 },
        { id: 'call_2', name: 'skill_run', error: null, attempt: 1 },
      ],
      artifacts: [
        {
          name: 'out/user-notes-summary.txt',
          version: 0,
          mimeType: 'text/plain',
          ref: 'artifact://out/user-notes-summary.txt@0',
        },
      ],
    });
    expect(result.skills.map((skill) => skill.name)).toEqual(['user-file-ops']);
    const run = result.toolCalls[1]?.result as Record<string, unknown>;
    expect(Object.keys(run)).toEqual([
      'stdout', 'stderr', 'exit_code', 'timed_out', 'duration_ms',
      'output_files', 'primary_output', 'artifact_files', 'warnings',
    ]); // prettier-ignore
    expect(run['output_files']).toMatchObject([
      {
        name: 'out/user-notes-summary.txt',
        mime_type: 'text/plain',
        truncated: false,
        ref: 'workspace://out/user-notes-summary.txt',
      },
    ]);
    expect(run['artifact_files']).toEqual([{ name: 'out/user-notes-summary.txt', version: 0 }]);
  });

  it('shows the second turn the first one’s messages [session-history, prompt-prefix]', async () => {
    world.script('first of two', [{ text: 'I am the first answer' }]);
    world.script('second of two', [
      { calls: [{ name: 'skill_list', arguments: {} }] },
      { text: 'I am the second answer' },
    ]);
    const session = ['--session', 'two.turns-1'];
    await world.run(['run', 'first of two', ...session]);
    const from = world.model.requests.length;
    const second = await world.run(['run', 'second of two', ...session]);
    expect(second).toMatchObject({ code: 0, stdout: 'I am the second answer\n' });

    const [one, two] = world.model.requests.slice(from);
    expect(one?.messages.slice(1)).toEqual([
      { role: 'user', content: 'first of two' },
      { role: 'assistant', content: 'I am the first answer' },
      { role: 'user', content: 'second of two' },
    ]);
    const before = JSON.stringify(one?.messages);
    expect(JSON.stringify(two?.messages).startsWith(before.slice(0, -1))).toBe(true);
    expect(two?.tools).toEqual(one?.tools);
  });

  it('brings a skill’s text in the result of its load, and a stub into history [skill-content]', async () => {
    const load = {
      calls: [
        { name: 'skill_load', arguments: { skill_name: 'file-tools', include_all_docs: true } },
      ],
    };
    world.script('load the tools', [load, { text: 'loaded' }]);
    world.script('and after that', [{ text: 'still here' }]);
    const session = ['--session', 'loads'];
    await world.run(['run', 'load the tools', ...session]);
    const loaded = world.model.requests.at(-1)?.messages.at(-1);
    expect(loaded).toMatchObject({ role: 'tool' });
    expect(loaded?.content).toContain("skill 'file-tools' loaded");
    expect(loaded?.content).toContain('[Loaded] file-tools');
    expect(loaded?.content).toMatch(/\[Doc\] docs\/USAGE\.md/);

    await world.run(['run', 'and after that', ...session]);
    const stub = world.model.requests.at(-1)?.messages.find((message) => message.role === 'tool');
    expect(stub?.content).toBe("skill 'file-tools' loaded");
  });

  it('stages files and returns artifacts byte for byte [files-in, files-binary]', async () => {
    const dir = await tempDir();
    const small = randomBytes(5000);
    const large = randomBytes(700_000);
    await writeFile(join(dir, 'small.bin'), small);
    await writeFile(join(dir, 'large.bin'), large);
    world.script('copy the files', [
      runs('sha256sum "$WORK_DIR"/inputs/in/*; cp "$WORK_DIR"/inputs/in/* "$OUTPUT_DIR"'),
      (request) => ({ text: String(lastToolResult(request)['stdout']) }),
    ]);
    const files = ['small.bin', 'large.bin'].flatMap((name) => [
      '--file',
      `${join(dir, name)}:in/${name}`,
    ]);
    const outcome = await world.run(['run', 'copy the files', ...files, '--out', join(dir, 'got')]);
    expect(outcome.code).toBe(0);
    const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    expect(outcome.stdout).toContain(sha256(small));
    expect(outcome.stdout).toContain(sha256(large));
    expect((await readFile(join(dir, 'got', 'out', 'small.bin'))).equals(small)).toBe(true);
    expect((await readFile(join(dir, 'got', 'out', 'large.bin'))).equals(large)).toBe(true);
  });

  it('never follows a link that a command leaves [links-not-followed]', async () => {
    world.script('leave links', [
      runs(
        'ln -s /etc/passwd "$OUTPUT_DIR/leak.txt"; ln -s /etc "$OUTPUT_DIR/hop"; mkfifo "$OUTPUT_DIR/pipe"; echo ok > "$OUTPUT_DIR/real.txt"',
        { output_files: ['out/**', '../**', '/etc/*', 'out/hop/passwd'] },
      ),
      { text: 'done' },
    ]);
    const outcome = await world.run(['run', 'leave links', '--json']);
    const result = turnResultSchema.parse(JSON.parse(outcome.stdout));
    expect(result.artifacts.map((artifact) => artifact.name)).toEqual(['out/real.txt']);
    const run = result.toolCalls[0]?.result as { output_files: unknown; warnings: string[] };
    expect(run.output_files).toMatchObject([{ name: 'out/real.txt', content: 'ok\n' }]);
    const warnings = run.warnings.join('\n');
    for (const name of ['leak.txt', 'hop', 'pipe', '../**', '/etc/*'])
      expect(warnings).toContain(name);
    expect(outcome.stdout).not.toContain('root:');
  });
});
