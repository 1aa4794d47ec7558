import type { Redis } from 'ioredis';
import type { LineModel, ModelTurn } from './line-model.js';
import type { Release, SessionLine } from './session-line.js';

export interface RealLine {
  readonly redis: Redis;
  readonly session: SessionLine;
}

/** The n-th of a list that may be shorter; the list is not empty. */
function pick<T>(list: readonly T[], n: number): T {
  const found = list[n % list.length];
  if (found === undefined) throw new Error('nothing to pick from');
  return found;
}

type Act = (model: LineModel, real: RealLine) => Promise<{ replied: unknown; expected: unknown }>;
type Kind = 'queue' | 'reject' | 'interrupt' | 'steer';

const newTurn = (model: LineModel, session: SessionLine, n: number, ticket: number): ModelTurn => ({
  id: session.turn(model.turns.length + 1),
  ...{ ticket, priority: n % 3, fruitless: 0, throttled: 0, attempts: 0, result: undefined },
});

/** Tickets of the model need not be the script's: only their order counts. */
const nextTicket = (model: LineModel) => model.turns.length + model.proofs.length + 1;

const enqueueAs =
  (onBusy: Kind) =>
  (n: number): Act =>
  async (model, { session }) => {
    const turn = newTurn(model, session, n, nextTicket(model));
    const { outcome, position, makeWay } = await session.accept(turn.id, {
      ...{ priority: turn.priority, onBusy },
    });
    const replied = { outcome, position, makeWay };
    const refused = { outcome: 'busy', position: 0, makeWay: undefined };
    if (onBusy === 'reject' && model.line.length > 0) return { replied, expected: refused };
    model.turns.push(turn);
    const running = model.line[0] !== undefined && model.begun === model.line[0];
    if (onBusy === 'steer' && running) model.steered.push(turn);
    else model.line.push(turn);
    const way = onBusy === 'interrupt' && running ? model.begun : undefined;
    if (way !== undefined) model.cancelling = way;
    const expected = { outcome: 'accepted', position: model.placeOf(turn), makeWay: way?.id };
    return { replied, expected };
  };

/** The next act on a session: what the script answers, and what the model says it must answer. */
export const acts = {
  enqueue: enqueueAs('queue'),
  reject: enqueueAs('reject'),
  interrupt: enqueueAs('interrupt'),
  steer: enqueueAs('steer'),

  delay:
    (n: number) =>
    async (model, { session }) => {
      const turn = newTurn(model, session, n, 0);
      model.turns.push(turn);
      model.delayed.push(turn);
      const delayMs = 3_600_000 + model.turns.length * 1000;
      const reply = await session.accept(turn.id, { priority: turn.priority, delayMs });
      return { replied: reply.position, expected: 0 };
    },

  /** The delayed turn that is due first falls due, and somebody comes to look. */
  fallDue:
    () =>
    async (model, { session }) => {
      const turn = model.delayed.shift();
      if (turn === undefined) return { replied: undefined, expected: undefined };
      await session.fallDue(turn.id);
      const last = { ...turn, ticket: nextTicket(model) };
      model.turns.splice(model.turns.indexOf(turn), 1, last);
      model.line.push(last);
      // The claim of an unknown turn looks at nothing; of the due turn itself it promotes it.
      const claim = await session.claim(turn.id, model.lease?.nonce ?? 'nobody');
      return claimed(model, last, claim, model.lease?.nonce ?? 'nobody');
    },

  enqueueAgain:
    (n: number) =>
    async (model, { session }) => {
      const turn = pick(model.turns, n);
      return { replied: await session.enqueue(turn.id), expected: model.placeOf(turn) };
    },

  claim:
    (n: number) =>
    async (model, { session }) => {
      const turn = pick(model.turns, n);
      const nonce = `nonce-${model.proofs.length}`;
      return claimed(model, turn, await session.claim(turn.id, nonce), nonce);
    },

  expire:
    () =>
    async (model, { session }) => {
      if (model.lease !== undefined) {
        model.lease.expired = true;
        await session.expireLease();
      }
      return { replied: undefined, expected: undefined };
    },

  renew:
    (n: number) =>
    async (model, { session }) => {
      const proof = pick(model.proofs, n);
      const replied = await session.renew(proof.turn.id, proof);
      if (!model.holds(proof)) return { replied, expected: 'lost' };
      if (model.lease !== undefined) model.lease.expired = false;
      return { replied, expected: model.cancelling?.id === proof.turn.id ? 'cancel' : 'held' };
    },

  release:
    (n: number, why: Release) =>
    async (model, { session }) => {
      const proof = pick(model.proofs, n);
      const replied = await session.release(proof.turn.id, proof, why);
      if (!model.holds(proof)) return { replied, expected: 'lost' };
      if (model.cancelling === proof.turn) return { replied, expected: 'cancel' };
      if (why !== 'retry') proof.turn.fruitless -= 1;
      if (why === 'throttled') proof.turn.throttled += 1;
      model.lease = undefined;
      return { replied, expected: 'released' };
    },

  append:
    (n: number) =>
    async (model, { session }) => {
      const proof = pick(model.proofs, n);
      const seq = await session.append(proof.turn.id, proof, [{ type: 'step' }]);
      return { replied: seq > 0, expected: model.holds(proof) };
    },

  commit:
    (n: number, why: Release) =>
    async (model, { session }) => {
      const proof = pick(model.proofs, n);
      const status = why === 'retry' ? 'failed' : 'completed';
      const result = JSON.stringify(`by ${proof.nonce}`);
      const replied = await session.commit(proof.turn.id, proof, { result, status });
      if (proof.turn.result !== undefined) {
        return { replied, expected: { outcome: 'already', head: model.head } };
      }
      const nothing = (outcome: string) => ({ replied, expected: { outcome, head: undefined } });
      if (!model.holds(proof)) return nothing('lost');
      if (status === 'completed' && model.steered.length > 0) return nothing('unread');
      model.lease = undefined;
      const head = model.finish(proof.turn, result);
      return { replied, expected: { outcome: 'committed', head } };
    },

  cancel:
    (n: number) =>
    async (model, { session }) => {
      const turn = pick(model.turns, n);
      const replied = await session.cancel(turn.id, '"cancelled"');
      if (turn.result !== undefined) {
        return { replied, expected: { outcome: 'finished', head: model.head } };
      }
      if (model.lease?.turn === turn) {
        if (!model.lease.expired) {
          model.cancelling = turn;
          return { replied, expected: { outcome: 'requested', head: undefined } };
        }
        model.lease = undefined;
      }
      const head = model.finish(turn, '"cancelled"');
      return { replied, expected: { outcome: 'cancelled', head } };
    },

  askToCancel:
    (n: number, why: Release) =>
    async (model, { session }) => {
      const turn = pick(model.turns, n);
      const isNextAsked = why === 'retry';
      const replied = await session.askToCancel(turn.id, isNextAsked);
      if (turn.result !== undefined) return { replied, expected: 'finished' };
      const isRunning = model.lease?.turn === turn && !model.lease.expired;
      const isNext = isNextAsked && model.line[0] === turn;
      if (!isRunning && !isNext) return { replied, expected: 'idle' };
      model.cancelling = turn;
      return { replied, expected: 'requested' };
    },

  flushScripts:
    () =>
    async (_model, { redis }) => {
      await redis.script('FLUSH');
      return { replied: undefined, expected: undefined };
    },
} satisfies Record<string, (n: number, why: Release) => Act>;

function claimed(
  model: LineModel,
  turn: ModelTurn,
  claim: Awaited<ReturnType<SessionLine['claim']>>,
  nonce: string,
): { replied: unknown; expected: unknown } {
  const replied =
    claim.outcome === 'claimed'
      ? {
          outcome: claim.outcome,
          ...{ token: claim.token, isCancelled: claim.isCancelled },
          ...countsOf({ ...claim, attempts: claim.attempt }),
        }
      : { outcome: claim.outcome };
  if (turn.result !== undefined) return { replied, expected: { outcome: 'finished' } };
  if (model.delayed.includes(turn)) return { replied, expected: { outcome: 'delayed' } };
  if (model.line[0] !== turn) return { replied, expected: { outcome: 'waiting' } };
  if (model.lease?.nonce !== nonce) {
    if (model.lease?.expired === false) return { replied, expected: { outcome: 'held' } };
    model.token += 1;
    turn.attempts += 1;
    turn.fruitless += 1;
    model.begun = turn;
    const proof = { token: model.token, nonce, turn };
    model.proofs.push(proof);
    model.lease = { ...proof, expired: false };
  }
  const isCancelled = model.cancelling === turn;
  const told = { token: model.token, isCancelled, ...countsOf(turn) };
  return { replied, expected: { outcome: 'claimed', ...told } };
}

function countsOf({
  attempts,
  fruitless,
  throttled,
}: Omit<ModelTurn, 'id' | 'ticket' | 'priority' | 'result'>) {
  return { attempts, fruitless, throttled };
}
