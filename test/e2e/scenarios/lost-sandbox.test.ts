import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, type Client } from '../../../src/producer/index.js';
import { docker, engineAnswers } from '../../support/docker.js';
import { callOf } from '../../support/turns-desk.js';
import { openWorld, type World } from '../../support/world.js';

describe.runIf(await engineAnswers())(
  'a sandbox that is lost with the files of a finished command',
  () => {
    let world: World;
    let client: Client;
    beforeAll(async () => {
      world = await openWorld({ SKILLMILL_MAX_ATTEMPTS: '3' });
      client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
      await world.worker();
    });
    afterAll(async () => {
      await client.close();
      await world.close();
    });

    /** A turn with two commands in one reply, whose sandbox is removed in the second one in each of the first `times` attempts. */
    async function turnThatLoses(name: string, times: number) {
      const command = (text: string) =>
        callOf('skill_run', { skill: 'user-file-ops', command: text });
      const calls = [
        command('echo link >> "$WORK_DIR/chain"'),
        command('echo begun; sleep 2; cat "$WORK_DIR/chain"'),
      ];
      world.script(name, [{ calls: calls.flatMap((step) => step.calls ?? []) }, { text: 'done' }]);
      const { turnId } = await client.enqueue({ input: name });
      let lost = 0;
      for await (const event of client.events(turnId)) {
        if (event.type !== 'tool.output' || lost === times) continue;
        lost += 1;
        for (const sandbox of await world.sandboxes()) {
          await docker.getContainer(sandbox.replace('/', '')).remove({ force: true });
        }
      }
      return client.result(turnId);
    }

    it('has those commands run again, as long as there are attempts [workspace-checkpoint, call-again]', async () => {
      const result = await turnThatLoses('thrice', 3);
      expect(result).toMatchObject({
        ...{ status: 'completed', attempts: 4 },
        toolCalls: [{ attempt: 4 }, { attempt: 4, result: { stdout: 'begun\nlink\n' } }],
      });
    });

    it('is told to the model in the last of them [workspace-checkpoint]', async () => {
      const result = await turnThatLoses('always', 4);
      expect(result).toMatchObject({
        ...{ status: 'completed', attempts: 4, output: 'done' },
        toolCalls: [
          { attempt: 4, error: null },
          { attempt: 4, error: { code: expect.any(String) as string } },
        ],
      });
    });
  },
);
