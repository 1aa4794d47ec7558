import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Reply, Step } from '../../../examples/scripted-model.js';
import { createClient, type Client, type TurnEvent } from '../../../src/producer/index.js';
import { eventsOf, oneByOne, seen, tooMany } from '../../support/line-turns.js';
import { tempDir } from '../../support/temp-dir.js';
import { openWorld, runs, type World } from '../../support/world.js';

let world: World;
let client: Client;
let gate: string;
beforeAll(async () => {
  world = await openWorld({ SKILLMILL_EXECUTOR: 'local', SKILLMILL_CONCURRENCY: '10' });
  client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
});
beforeEach(async () => {
  gate = join(await tempDir(), 'gate');
});
afterAll(async () => {
  await client.close();
  await world.close();
});

/** A stream that begins an answer and never goes on. */
const endless: Reply = {
  chunks: [
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'scripted', choices: [{ index: 0, delta: { role: 'assistant', content: 'half an ' }, finish_reason: null }] })}\n\n`,
    600_000,
  ],
};
const done: Reply = { text: 'done in the end' };

/** Never comes while the gate is shut. */
const behindGate =
  (reply: Reply): Step =>
  () =>
    existsSync(gate) ? done : reply;
const silence: Reply = { ...done, delayMs: 600_000 };

interface Phase {
  readonly steps: () => Step[];
  /** The event after which the turn is in this phase. */
  readonly moment: TurnEvent['type'];
}

/** What a turn may be doing; it comes through once the gate is there. */
const phases: Record<string, Phase> = {
  'before its first word': {
    steps: () => [behindGate(silence)],
    moment: 'turn.started',
  },
  'in a streaming reply': { steps: () => [behindGate(endless)], moment: 'message.delta' },
  'in a command': {
    steps: () => [runs(`echo begun; test -e ${gate} || sleep 300`), done],
    moment: 'tool.output',
  },
  'collecting files': {
    // Thousands of files: their collection is far from its end when the command's last word is heard.
    steps: () => [
      runs('for n in $(seq 3000); do echo $n > "$OUTPUT_DIR/$n.txt"; done; echo written'),
      behindGate(silence),
    ],
    moment: 'tool.output',
  },
};

/** Enqueues a turn for each phase and one that waits behind it; ends when each is in its phase. */
async function enterPhases(prefix: string) {
  const turns = [];
  for (const [phase, { steps, moment }] of Object.entries(phases)) {
    const sessionId = `${prefix} ${phase}`.replaceAll(' ', '-');
    world.script(`${prefix} ${phase}`, steps());
    const running = await client.enqueue({ input: `${prefix} ${phase}`, sessionId });
    const waiting = await client.enqueue({ input: `${prefix} behind ${phase}`, sessionId });
    turns.push({ phase, moment, running: running.turnId, waiting: waiting.turnId });
  }
  world.script(`${prefix} behind`, [done]);
  await Promise.all(turns.map(({ running, moment }) => seen(client, running, moment)));
  return turns;
}

async function endsOnce(turnId: string): Promise<void> {
  const events = await eventsOf(client, turnId);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events.filter((event) => 'result' in event)).toHaveLength(1);
}

describe('cancel', () => {
  it('ends a turn in every phase, in one result; the next one of its session runs [cancel-running, cancel-waiting, interrupt-run]', async () => {
    const worker = await world.worker();
    const turns = await enterPhases('cancelled');
    for (const { phase, running } of turns) {
      expect(await client.cancel(running), phase).toBe('requested');
      expect(await client.result(running, { waitMs: 5000 }), phase).toMatchObject({
        ...{ status: 'cancelled', error: { code: 'CANCELLED' }, attempts: 1 },
      });
      await endsOnce(running);
    }
    for (const { phase, waiting } of turns) {
      expect(await client.result(waiting), phase).toMatchObject({ status: 'completed' });
    }
    expect(world.model.faults).toEqual([]);
    // Last: it closes the endpoint for the whole worker.
    world.script('cancelled in the wait', [tooMany(60)]);
    const run = world.start(['run', 'cancelled in the wait']);
    let said = '';
    let isKilled = false;
    run.child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
      if (isKilled || !said.includes('retry')) return;
      isKilled = true; // a second Ctrl-C would not wait for the turn's end
      run.child.kill('SIGINT');
    });
    expect(await run.outcome).toMatchObject({ code: 130, stdout: '' });
    expect(await worker.end()).toBe(0);
  });
});

describe('SIGTERM', () => {
  it('hands a turn over in every phase when the grace time is over; nothing is lost or done twice [hand-over, drain, event-seq]', async () => {
    const first = await world.worker({ SKILLMILL_SHUTDOWN_GRACE: '1' });
    const turns = await enterPhases('ended');
    expect(await first.end('SIGTERM')).toBe(0);
    for (const { phase, running } of turns) {
      await expect(client.result(running, { waitMs: 0 }), phase).rejects.toMatchObject({
        code: 'TURN_NOT_FINISHED',
      });
    }
    await writeFile(gate, '');
    const second = await world.worker();
    for (const { phase, running, waiting } of turns) {
      expect(await client.result(running), phase).toMatchObject({
        ...{ status: 'completed', output: 'done in the end', attempts: 2 },
      });
      await endsOnce(running);
      expect(await client.result(waiting), phase).toMatchObject({
        ...{ status: 'completed', attempts: 1 },
      });
      const parked = (await eventsOf(client, running)).filter(({ type }) => type === 'turn.parked');
      expect(parked, phase).toMatchObject([{ reason: 'hand_over' }]);
    }
    expect(world.model.faults).toEqual([]);
    expect(await second.end()).toBe(0);
  });

  it('does not wait for a turn that waits for an endpoint; another worker goes on with it [hand-over, drain]', async () => {
    const first = await world.worker();
    world.script('ended in the wait', oneByOne([tooMany(6), done]));
    const { turnId } = await client.enqueue({ input: 'ended in the wait' });
    await seen(client, turnId, 'turn.retrying');
    expect(await first.end('SIGTERM')).toBe(0);
    await expect(client.result(turnId, { waitMs: 0 })).rejects.toMatchObject({
      code: 'TURN_NOT_FINISHED',
    });
    const second = await world.worker();
    expect(await client.result(turnId)).toMatchObject({
      ...{ status: 'completed', output: 'done in the end', attempts: 2 },
    });
    await endsOnce(turnId);
    expect(await second.end()).toBe(0);
  });
});
