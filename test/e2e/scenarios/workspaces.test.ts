import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { turnResultSchema, type TurnResult } from '../../../src/shared/contracts/index.js';
import { lastToolResult, openWorld, runs, type World } from '../../support/world.js';

const session = 'work-1';

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
    world = await openWorld();
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
});
