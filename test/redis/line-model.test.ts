import fc from 'fast-check';
import { expect, it } from 'vitest';
import { acts, type RealLine } from './line-acts.js';
import { LineModel } from './line-model.js';
import { SessionLine, type Release } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();

/** `MODEL_RUNS=2000` is the whole check. */
const runs = Number(process.env['MODEL_RUNS'] ?? '200');

type Name = keyof typeof acts;
type Command = fc.AsyncCommand<LineModel, RealLine>;

/** Whom an act needs before it can be done. */
const needs: Record<Name, (model: Readonly<LineModel>) => boolean> = {
  enqueue: () => true,
  reject: () => true,
  interrupt: () => true,
  steer: () => true,
  delay: () => true,
  fallDue: () => true,
  enqueueAgain: (model) => model.turns.length > 0,
  claim: (model) => model.turns.length > 0,
  expire: () => true,
  renew: (model) => model.proofs.length > 0,
  askToCancel: (model) => model.turns.length > 0,
  release: (model) => model.proofs.length > 0,
  append: (model) => model.proofs.length > 0,
  commit: (model) => model.proofs.length > 0,
  cancel: (model) => model.turns.length > 0,
  flushScripts: () => true,
};

const command = (name: Name) =>
  fc
    .tuple(fc.nat(50), fc.constantFrom<Release>('hand_over', 'retry', 'throttled'))
    .map(([n, why]): Command => ({
      check: needs[name],
      async run(model, real) {
        const { replied, expected } = await acts[name](n, why)(model, real);
        expect(replied, `${name} ${n}`).toEqual(expected);
        await agree(model, real);
      },
      toString: () => `${name}(${n}, ${why})`,
    }));

/** Redis holds what the model says: the same line, the same lease, the first result of each turn. */
async function agree(model: LineModel, { redis: client, session }: RealLine): Promise<void> {
  const { keys } = session;
  const asked = [
    client.zrange(keys.line, 0, -1),
    client.zrange(keys.delayed, 0, -1),
    client.zrange(keys.steered, 0, -1),
    client.hmget(keys.session, 'leaseTurn', 'leaseNonce', 'begun', 'cancelRequested'),
    Promise.all(model.turns.map(({ id }) => client.hget(session.turnKeys(id).turn, 'result'))),
  ];
  const idsOf = (turns: readonly { id: string }[]) => turns.map((turn) => turn.id);
  expect(await Promise.all(asked)).toEqual([
    ...[idsOf(model.line), idsOf(model.delayed), idsOf(model.steered)],
    [model.lease?.turn.id, model.lease?.nonce, model.begun?.id, model.cancelling?.id].map(orNull),
    model.turns.map(({ result }) => orNull(result)),
  ]);
}

const orNull = (value: string | undefined) => value ?? null;

/** Each turn's events rise by one, and exactly one of them is final and the last, when the turn has its result. */
async function eventsAreWhole(model: LineModel, { session }: RealLine): Promise<void> {
  for (const { id, result } of model.turns) {
    const events = await session.events(id);
    expect(events.map((event) => event.id)).toEqual(events.map((_, n) => `${n + 1}-0`));
    const ends = events.filter((event) => 'result' in event.body);
    expect(ends).toHaveLength(result === undefined ? 0 : 1);
    if (result !== undefined) expect('result' in (events.at(-1)?.body ?? {})).toBe(true);
  }
  expect(new Set(model.accepted).size, 'one result a turn').toBe(model.accepted.length);
}

// Claims and commits come more often, so that turns get to their ends.
const names: Name[] = [
  ...(Object.keys(acts) as Name[]),
  ...(['claim', 'claim', 'commit', 'commit', 'enqueue', 'expire'] as const),
];

it('a session does what its model says, whatever happens in whatever order', async () => {
  let made = 0;
  const steps = fc.commands(names.map(command), { maxCommands: 50, size: 'max' });
  const property = fc.asyncProperty(steps, async (commands) => {
    const model = new LineModel();
    made += 1;
    const session = new SessionLine(redis.client, `run-${made}`);
    const real = { redis: redis.client, session };
    await fc.asyncModelRun(() => ({ model, real }), commands);
    await eventsAreWhole(model, real);
  });
  await fc.assert(property, { numRuns: runs });
});

it('whoever asks at once, a line of turns ends in order with one result each', async () => {
  const session = new SessionLine(redis.client);
  const turns = Array.from({ length: 12 }, (_, n) => session.turn(n));
  for (const turn of turns) await session.enqueue(turn);
  const ended: string[] = [];
  const worker = async (name: string) => {
    while (ended.length < turns.length) {
      for (const turn of turns) {
        const claim = await session.claim(turn, name);
        if (claim.outcome !== 'claimed') continue;
        const { outcome } = await session.commit(turn, { token: claim.token, nonce: name });
        if (outcome === 'committed') ended.push(turn);
      }
    }
  };
  await Promise.all(['a', 'b', 'c', 'd'].map(worker));
  expect(ended).toEqual(turns);
});
