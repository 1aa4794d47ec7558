import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WireRequest } from '../../../examples/scripted-model.js';
import { createClient, type Client } from '../../../src/producer/index.js';
import type { TurnEvent } from '../../../src/shared/contracts/index.js';
import { chunk, streamQuirks, type Quirk } from '../../support/quirks.js';
import { wholeQuirks } from '../../support/whole-quirks.js';
import { openWorld, type World } from '../../support/world.js';

let world: World;
let client: Client;
beforeAll(async () => {
  world = await openWorld({ SKILLMILL_EXECUTOR: 'local', SKILLMILL_MODEL_IDLE_TIMEOUT: '1' });
  await world.worker();
  client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
});
afterAll(async () => {
  await client.close();
  await world.close();
});

/** Runs a turn whose first reply is given; the model then answers `done`. */
async function turnWith({ name, reply }: Quirk) {
  const message = `quirk: ${name}.`;
  let asked = 0;
  world.script(message, [() => ((asked += 1) === 1 ? reply : { text: 'done' }), { text: 'done' }]);
  const from = world.model.requests.length;
  const { turnId } = await client.enqueue({ input: message });
  const result = await client.result(turnId);
  return { result, requests: world.model.requests.slice(from) };
}

/** The assistant message that the last request sends back. */
const sentBack = (requests: readonly WireRequest[]) =>
  requests.at(-1)?.messages.findLast(({ role }) => role === 'assistant');

async function expectTurn(quirk: Quirk): Promise<void> {
  const { result, requests } = await turnWith(quirk);
  expect(result).toMatchObject({ status: 'completed', output: quirk.output ?? 'done' });
  expect(world.model.faults).toEqual([]);
  expect(requests).toHaveLength(quirk.then === 'answers' ? 1 : 2);
  const [first, last] = [requests[0], requests.at(-1)];
  if (quirk.then === 'again') expect(last).toEqual(first);
  if (quirk.then === 'calls') {
    expect(result.toolCalls.map(({ name }) => name)).toContain('skill_list');
    for (const call of result.toolCalls) expect(call.error).toBeNull();
    expect(sentBack(requests)).toMatchObject(quirk.sentBack ?? {});
    for (const { function: fn } of sentBack(requests)?.tool_calls ?? []) {
      expect(JSON.parse(fn.arguments)).toEqual(expect.any(Object));
    }
  }
  expect(result.usage.inputTokens).toBeGreaterThan(0);
  if (quirk.then === 'answers') expect(result.usage.estimated).toBe(quirk.estimated);
}

describe('a stream', () => {
  it.each(streamQuirks.map((quirk) => [quirk.name, quirk] as const))(
    'with %s loses no turn [model-quirks]',
    (_, quirk) => expectTurn(quirk),
  );

  it('is published as it comes, and what is made again is discarded first [model-stream]', async () => {
    const reply = { chunks: [chunk({ content: 'half an ans' })], cut: true };
    const { result } = await turnWith({ name: 'published', reply, then: 'again' });
    const events: TurnEvent[] = [];
    for await (const event of client.events(result.turnId)) events.push(event);
    const types = events.map(({ type }) => type).filter((type) => /message|retrying/.test(type));
    expect(types).toEqual([
      ...['message.delta', 'message.discarded', 'turn.retrying'],
      ...['message.delta', 'message.completed'],
    ]);
    const ids = events.flatMap((event) => ('messageId' in event ? [event.messageId] : []));
    expect(new Set(ids).size).toBe(1);
  });
});

describe('an answer', () => {
  it.each(wholeQuirks.map((quirk) => [quirk.name, quirk] as const))(
    'with %s loses no turn [model-quirks]',
    (_, quirk) => expectTurn(quirk),
  );
});
