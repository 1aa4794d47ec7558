import type { Redis } from 'ioredis';
import type { TurnId } from '../../src/shared/contracts/index.js';
import type { SessionLine } from './session-line.js';
import { type Proof } from './session-line.js';

interface ModelTurn {
  readonly id: TurnId;
  attempts: number;
  handOvers: number;
  cancelRequested: boolean;
  result: string | undefined;
}

interface GivenProof extends Proof {
  readonly turn: ModelTurn;
}

/** What a session is thought to be, without Redis: its turns, its line, the lease in force. */
export class LineModel {
  readonly turns: ModelTurn[] = [];
  readonly proofs: GivenProof[] = [];
  line: ModelTurn[] = [];
  lease: (GivenProof & { expired: boolean }) | undefined;
  token = 0;
  /** Every result that a script said it had taken, by turn. */
  readonly accepted: string[] = [];

  holds(proof: Proof): boolean {
    return this.lease?.token === proof.token && this.lease.nonce === proof.nonce;
  }

  /** The turn is over; gives the new head. */
  finish(turn: ModelTurn, result: string): TurnId | undefined {
    turn.result = result;
    this.accepted.push(turn.id);
    this.line = this.line.filter((other) => other !== turn);
    return this.line[0]?.id;
  }
}

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

/** The next act on a session: what the script answers, and what the model says it must answer. */
export const acts = {
  enqueue:
    () =>
    async (model, { session }) => {
      const turn = {
        id: session.turn(model.turns.length + 1),
        attempts: 0,
        handOvers: 0,
        cancelRequested: false,
        result: undefined,
      };
      model.turns.push(turn);
      model.line.push(turn);
      return { replied: await session.enqueue(turn.id), expected: model.line.length };
    },

  enqueueAgain:
    (n: number) =>
    async (model, { session }) => {
      const turn = pick(model.turns, n);
      return { replied: await session.enqueue(turn.id), expected: model.line.indexOf(turn) + 1 };
    },

  claim:
    (n: number) =>
    async (model, { session }) => {
      const turn = pick(model.turns, n);
      const nonce = `nonce-${model.proofs.length}`;
      const { outcome, ...rest } = await session.claim(turn.id, nonce);
      const replied = 'token' in rest ? { outcome, ...numbersOf(rest) } : { outcome };
      if (turn.result !== undefined) return { replied, expected: { outcome: 'finished' } };
      if (model.line[0] !== turn) return { replied, expected: { outcome: 'waiting' } };
      if (model.lease?.expired === false) return { replied, expected: { outcome: 'held' } };
      model.token += 1;
      turn.attempts += 1;
      const proof = { token: model.token, nonce, turn };
      model.proofs.push(proof);
      model.lease = { ...proof, expired: false };
      const { attempts: attempt, handOvers } = turn;
      return { replied, expected: { outcome: 'claimed', token: model.token, attempt, handOvers } };
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
      return { replied, expected: proof.turn.cancelRequested ? 'cancel' : 'held' };
    },

  release:
    (n: number, why: 'hand_over' | 'retry') =>
    async (model, { session }) => {
      const proof = pick(model.proofs, n);
      const replied = await session.release(proof.turn.id, proof, why);
      if (!model.holds(proof)) return { replied, expected: 0 };
      if (why === 'hand_over') proof.turn.handOvers += 1;
      model.lease = undefined;
      return { replied, expected: 1 };
    },

  append:
    (n: number) =>
    async (model, { session }) => {
      const proof = pick(model.proofs, n);
      const seq = await session.append(proof.turn.id, proof, [{ type: 'step' }]);
      return { replied: seq > 0, expected: model.holds(proof) };
    },

  commit:
    (n: number) =>
    async (model, { session }) => {
      const proof = pick(model.proofs, n);
      const result = JSON.stringify(`by ${proof.nonce}`);
      const replied = await session.commit(proof.turn.id, proof, { result });
      if (proof.turn.result !== undefined) {
        return { replied, expected: { outcome: 'already', head: undefined } };
      }
      if (!model.holds(proof)) return { replied, expected: { outcome: 'lost', head: undefined } };
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
        return { replied, expected: { outcome: 'finished', head: undefined } };
      }
      if (model.lease?.turn === turn) {
        if (!model.lease.expired) {
          turn.cancelRequested = true;
          return { replied, expected: { outcome: 'requested', head: undefined } };
        }
        model.lease = undefined;
      }
      return {
        replied,
        expected: { outcome: 'cancelled', head: model.finish(turn, '"cancelled"') },
      };
    },

  flushScripts:
    () =>
    async (_model, { redis }) => {
      await redis.script('FLUSH');
      return { replied: undefined, expected: undefined };
    },
} satisfies Record<string, (n: number, why: 'hand_over' | 'retry') => Act>;

function numbersOf(claim: { token: number; attempt: number; handOvers: number }) {
  return { token: claim.token, attempt: claim.attempt, handOvers: claim.handOvers };
}
