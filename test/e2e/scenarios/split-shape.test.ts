import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { turnResultSchema } from '../../../src/shared/contracts/index.js';
import { docker, engineAnswers } from '../../support/docker.js';
import { openSplitWorld, type SplitWorld } from '../../support/split-world.js';
import { lastToolResult } from '../../support/world.js';

/** A skill whose text and whose script both name their version. */
const versioned = (version: string) => ({
  'versioned/SKILL.md': `---\nname: versioned\ndescription: Says its version.\n---\n\nThis is version ${version}.\n`,
  'versioned/say.sh': `#!/bin/sh\necho version ${version} > "$OUTPUT_DIR/version.txt"\necho version ${version}\n`,
});

const hasEngine = await engineAnswers();

describe.runIf(hasEngine)('client and workers without a common folder, on a cluster', () => {
  let world: SplitWorld;
  let workers: Awaited<ReturnType<SplitWorld['worker']>>[];
  beforeAll(async () => {
    world = await openSplitWorld();
    world.script('say your version', [
      { calls: [{ name: 'skill_load', arguments: { skill_name: 'versioned' } }] },
      {
        calls: [
          {
            name: 'skill_run',
            arguments: { skill: 'versioned', command: 'cat "$WORK_DIR/inputs/in.txt"; ./say.sh' },
          },
        ],
      },
      (request) => ({ text: String(lastToolResult(request)['stdout']) }),
    ]);
    world.script('remember', [{ text: 'remembered' }]);
    world.script('hold on', [
      { calls: [{ name: 'skill_run', arguments: { skill: 'versioned', command: 'sleep 5' } }] },
      { text: 'held on' },
    ]);
    workers = [await world.worker(versioned('one')), await world.worker(versioned('two'))];
  }, 120_000);
  afterAll(() => world.close(), 120_000);

  it('runs turns, and brings their files back [split-shape]', async () => {
    for (let turn = 0; turn < 6; turn += 1) {
      const { code, output, stderr } = await world.client(
        `echo input ${turn} > in.txt; skillmill run 'say your version' --file in.txt --json --out got && cat got/out/version.txt >&2`,
      );
      expect(code, stderr).toBe(0);
      const result = turnResultSchema.parse(JSON.parse(output));
      // One turn sees one version of a skill, in its text and in its script.
      const load = world.model.requests.at(-1)?.messages.find((m) => m.role === 'tool')?.content;
      const version = /This is version (\w+)/.exec(String(load))?.[1];
      expect(result.output).toBe(`input ${turn}\nversion ${version ?? ''}\n`);
      expect(stderr).toContain(`version ${version ?? ''}`);
    }
  });

  it('keeps order, history and tenants apart on the cluster [split-shape, tenants, session-order]', async () => {
    const enqueue = (text: string) => `skillmill enqueue '${text}' --session same`;
    const wait = (variable: string) => `skillmill result --wait "$${variable}"`;
    const script = `a=$(${enqueue('remember a')}); b=$(${enqueue('remember b')}); c=$(${enqueue('remember c')}); ${wait('c')}; ${wait('a')}; ${wait('b')}`;
    const one = await world.client(script, { SKILLMILL_TENANT: 'one' });
    expect(one).toMatchObject({ code: 0, output: 'remembered\nremembered\nremembered\n' });
    const asked = world.model.requests
      .at(-1)
      ?.messages.filter((message) => message.role === 'user');
    expect(asked?.map((message) => message.content)).toEqual([
      'remember a',
      'remember b',
      'remember c',
    ]);
    await world.client(`skillmill run 'remember d' --session same`, { SKILLMILL_TENANT: 'two' });
    expect(world.model.requests.at(-1)?.messages).toHaveLength(2);
  });

  it('says clearly that a large file needs a common folder [split-shape]', async () => {
    const { code, stderr } = await world.client(
      `head -c 400000 /dev/zero > large; skillmill enqueue 'say your version' --file large`,
    );
    expect(code).toBe(3);
    expect(stderr).toContain('SKILLMILL_DATA_DIR');
    expect(stderr).toContain('256 KiB');
  });

  it('goes on with a turn whose worker’s container is killed [split-shape, worker-killed]', async () => {
    const { output } = await world.client(`skillmill enqueue 'hold on'`);
    const turnId = output.trim();
    // A worker's id begins with its host's name, which is its container's id.
    const holder = await world.client(
      `node --input-type=module -e "import { createClient } from '/app/dist/producer/index.js'; const c = createClient(); for await (const e of c.events('${turnId}')) { if (e.type === 'turn.started') console.log(e.workerId); if (e.type === 'tool.started') break; } await c.close();"`,
    );
    const host = holder.output.split('-')[0] ?? 'none';
    const held = workers.find((worker) => worker.getId().startsWith(host));
    expect(held).toBeDefined();
    await docker.getContainer(held?.getId() ?? '').kill();
    const ended = await world.client(`skillmill result --wait --json ${turnId}`);
    const result = turnResultSchema.parse(JSON.parse(ended.output));
    expect(result).toMatchObject({ status: 'completed', output: 'held on', attempts: 2 });
  });
});
