import type { WireRequest } from '../../../examples/scripted-model.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { turnResultSchema, type TurnResult } from '../../../src/shared/contracts/index.js';
import { docker } from '../../support/docker.js';
import { eventually } from '../../support/eventually.js';
import { callOf } from '../../support/turns-desk.js';
import { lastToolResult, openWorld, runs, type World } from '../../support/world.js';

const session = 'work-1';
const skill = 'user-file-ops';

/** What must be the same in the next turn: every file's bytes, mode and time, every folder and link; run folders are the commands' own. */
const listAll = String.raw`cd "$WORKSPACE_DIR"
find work out skills/user-file-ops/.venv -mindepth 1 ! -path work/inputs ! -type p -printf '%y %m %T@ %p %l\n' | sort
find work out skills/user-file-ops/.venv -type f -print0 | sort -z | xargs -0 sha256sum`;

const makeAll = `mkdir -p "$WORK_DIR/a/b" "$WORK_DIR/empty" .venv/bin
printf 'a\\0b\\377' > "$WORK_DIR/a/b/bytes"; echo run > "$WORK_DIR/a/tool"; chmod 750 "$WORK_DIR/a/tool"
ln -s a/tool "$WORK_DIR/link"; ln -s /usr/bin/env .venv/bin/python; echo cfg > .venv/pyvenv.cfg
head -c 300000 /dev/zero | tr '\\0' x > "$WORK_DIR/large"; echo result > "$OUTPUT_DIR/result.txt"
touch -d '2001-02-03 04:05:06.789' "$WORK_DIR/a/tool"; chmod 500 "$WORK_DIR/empty"; mkfifo "$WORK_DIR/pipe"`;

describe('the files of a session', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ SKILLMILL_WORKSPACE_MAX_MB: '2' });
  });
  afterAll(() => world.close());

  const turn = async (text: string, args: readonly string[] = []) => {
    const { stdout } = await world.run(['run', text, '--json', ...args]);
    return turnResultSchema.parse(JSON.parse(stdout));
  };

  /** The stdout of each command of a turn. */
  const printed = (result: TurnResult) =>
    result.toolCalls.map((call) => String((call.result as { stdout?: unknown } | null)?.stdout));

  it('are there in its next turn, on another worker, as they were; one that dies takes none with it [workspace-follows]', async () => {
    world.script('make', [runs(makeAll), runs(listAll), { text: 'made' }]);
    world.script('look', [
      runs(`${listAll}; cat "$WORK_DIR/link"`),
      runs(
        'echo changed > "$WORK_DIR/a/b/bytes"; rm -r "$WORK_DIR/a/tool"; echo new > "$OUTPUT_DIR/new"',
      ),
      (request) => ({ text: JSON.stringify(lastToolResult(request)) }),
    ]);
    world.script('again', [
      runs('cd "$WORKSPACE_DIR"; cat work/a/b/bytes; ls work/a out; cat out/result.txt'),
      { text: 'seen' },
    ]);
    const first = await world.worker();
    const made = await turn('make', ['--session', session]);
    expect(made.status).toBe('completed');
    await first.end('SIGKILL');
    const second = await world.worker();
    const look = await turn('look', ['--session', session]);
    expect(look.status, JSON.stringify(look.error)).toBe('completed');
    const before = printed(made)[1] ?? '';
    expect(before.split('\n').length).toBeGreaterThan(12);
    expect(printed(look)[0]).toBe(`${before}run\n`);
    expect(look.toolCalls[0]?.result).toMatchObject({
      warnings: ['"work/pipe" of an earlier turn was not kept: a FIFO'],
      // What an earlier turn left is no output of this one.
      output_files: [],
    });
    expect(JSON.parse(look.output)).toMatchObject({ artifact_files: [{ name: 'out/new' }] });
    const again = await turn('again', ['--session', session]);
    expect(printed(again)[0]).toBe('changed\nout:\nnew\nresult.txt\n\nwork/a:\nb\nresult\n');
    await second.end();
  });

  it('are kept as finished commands left them when a turn fails, is cancelled, or loses its sandbox [workspace-follows, workspace-checkpoint]', async () => {
    const worker = await world.worker();
    const args = ['--session', 'work-2'];
    const add = (name: string) => runs(`echo ${name} >> "$WORK_DIR/log"; cat "$WORK_DIR/log"`);
    const command = 'echo three >> "$WORK_DIR/log"; cat "$WORK_DIR/log"';
    const three = callOf('skill_run', { skill, command });
    const loseSandbox = async () => {
      for (const name of await world.sandboxes()) {
        await docker.getContainer(name.replace('/', '')).remove({ force: true });
      }
      return three;
    };
    world.script('fails', [add('one'), { status: 400, body: '{}' }]);
    // A command waits for the checkpoint of the one before: what is lost is at most the second's.
    // A command waits for the checkpoint of the one before: what is lost is at most the second's.
    const again = ({ messages }: WireRequest) =>
      String(messages.at(-1)?.content).includes('was lost while') ? three : { text: 'done' };
    world.script('loses', [add('two'), runs('true'), loseSandbox, again, { text: 'done' }]);
    world.script('is cut', [
      add('four'),
      runs('echo half > "$WORK_DIR/half"; echo half-$((1 + 1)); sleep 600'),
    ]);
    world.script('look', [runs('cat "$WORK_DIR/log"; ls "$WORK_DIR"'), { text: 'done' }]);
    expect(await turn('fails', args)).toMatchObject({ status: 'failed' });
    const loses = await turn('loses', args);
    const third = 'one\ntwo\nthree\n';
    if (world.executor === 'docker') {
      // Who sees first that it is gone, the checkpoint or the command, is a matter of luck.
      const warnings = [expect.stringMatching(/^The sandbox was lost and has been replaced/)];
      expect(loses.toolCalls.at(-1)?.result).toMatchObject({ stdout: third, warnings });
    }
    const cut = world.start(['run', 'is cut', '--json', ...args]);
    let said = '';
    cut.child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')));
    await eventually('the second command', () => (said.includes('half-2') ? true : undefined));
    cut.child.kill('SIGINT');
    expect(turnResultSchema.parse(JSON.parse((await cut.outcome).stdout)).status).toBe('cancelled');
    expect(printed(await turn('look', args))).toEqual(['one\ntwo\nthree\nfour\ninputs\nlog\n']);
    // No checkpoint lies between the commands of one reply: the first one's files stay, the second's with them.
    const five = callOf('skill_run', { skill, command: 'echo five >> "$WORK_DIR/log"' });
    const half = 'echo half > "$WORK_DIR/half"; echo half-$((1 + 2)); sleep 600';
    const both = [five, callOf('skill_run', { skill, command: half })];
    world.script('both are cut', [{ calls: both.flatMap(({ calls }) => calls ?? []) }]);
    const second = world.start(['run', 'both are cut', '--json', ...args]);
    let told = '';
    second.child.stderr?.on('data', (chunk: Buffer) => (told += chunk.toString('utf8')));
    await eventually('the half', () => (told.includes('half-3') ? true : undefined));
    second.child.kill('SIGINT');
    expect((await second.outcome).code).toBe(130);
    const all = 'one\ntwo\nthree\nfour\nfive\nhalf\ninputs\nlog\n';
    expect(printed(await turn('look', args))).toEqual([all]);
    await worker.end();
  });

  it('are bounded: the model is told, a turn that ends past the limit fails, and the version before stays [workspace-limit]', async () => {
    const worker = await world.worker();
    const args = ['--session', 'work-3'];
    const fill = 'head -c 3000000 /dev/zero > "$WORK_DIR/big"; echo kept > "$WORK_DIR/small"';
    world.script('begin', [runs('echo first > "$WORK_DIR/small"'), { text: 'done' }]);
    world.script('fill', [runs(fill), { text: 'done' }]);
    world.script('mend', [
      runs(fill),
      runs('cat "$WORK_DIR/small"'),
      runs('rm "$WORK_DIR/big"; cat "$WORK_DIR/small"'),
      { text: 'done' },
    ]);
    await turn('begin', args);
    expect(await turn('fill', args)).toMatchObject({
      status: 'failed',
      error: { code: 'LIMIT_EXCEEDED', details: { limit: 'workspaceBytes' } },
    });
    world.script('look', [runs('cat "$WORK_DIR/small"; ls "$WORK_DIR"'), { text: 'done' }]);
    expect(printed(await turn('look', args))).toEqual(['first\ninputs\nsmall\n']);
    const mended = await turn('mend', args);
    expect(mended).toMatchObject({ status: 'completed' });
    const warnings = mended.toolCalls.map(
      (call) => (call.result as { warnings: string[] }).warnings,
    );
    expect(warnings).toEqual([
      [],
      [expect.stringContaining('more than is kept')],
      [expect.stringContaining('more than is kept')],
    ]);
    expect(printed(await turn('look', args))).toEqual(['kept\ninputs\nsmall\n']);
    await worker.end();
  });
});
