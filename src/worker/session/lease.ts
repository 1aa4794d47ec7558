import { randomUUID } from 'node:crypto';
import {
  tagOfTurn,
  type TurnId,
  type Tenant,
  type TurnEventBody,
} from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import { sessionKeys, turnKeys, type SessionKeys, type TurnKeys } from '../../shared/redis/keys.js';
import type { RedisClient } from '../../shared/redis/redis-client.js';
import { claimTurnScript } from '../../shared/redis/scripts/claim-turn.js';
import { releaseLeaseScript } from '../../shared/redis/scripts/release-lease.js';
import type { StoredSession } from '../../shared/redis/scripts/session-lua.js';
import { sessionTurnKeys } from '../../shared/redis/scripts/session-turn-keys.js';
import { renewLeaseScript } from '../../shared/redis/scripts/renew-lease.js';

/** A lease runs out this long after its last renewal; a dead worker's session is free after that. */
const leaseMs = 6000;
/** Also how soon a cancel reaches a running turn. */
const renewEveryMs = 250;

/** What a fenced write needs: the keys, and the proof that the lease is in force. */
export interface LeaseProof {
  readonly keys: SessionKeys & TurnKeys;
  readonly token: number;
  readonly nonce: string;
}

export type Claim =
  | {
      readonly outcome: 'claimed';
      readonly lease: Lease;
      readonly attempt: number;
      /** Claims in a row that came to nothing, this one included: their worker was lost, or a service failed it. */
      readonly fruitless: number;
      /** Attempts in a row that an endpoint asked to wait, and that did nothing else. */
      readonly throttled: number;
      readonly acceptedAt: number;
      readonly startedAt: number;
      /** How long ago the turn's first attempt began, in ms. */
      readonly elapsedMs: number;
      /** Is the turn to be ended rather than run? */
      readonly isCancelled: boolean;
      /** As Redis keeps them: who looks at them may find them unreadable. */
      readonly request: string;
      readonly retryOf: string | undefined;
      readonly session: StoredSession;
    }
  | { readonly outcome: 'held' | 'delayed'; readonly msLeft: number }
  | { readonly outcome: 'finished' | 'waiting' | 'unknown' };

/** How an attempt ends that another one follows. */
export interface Release {
  /** Only `retry` counts as an attempt that came to nothing. */
  readonly why: 'hand_over' | 'retry' | 'throttled';
  /** The next claim comes after this at the earliest. */
  readonly pauseMs: number;
  readonly event: TurnEventBody;
}

const givenUp: Release = {
  why: 'hand_over',
  pauseMs: 0,
  event: { type: 'turn.parked', reason: 'hand_over', afterMs: 0 },
};

/** Tries to get the lease for a turn. @throws SkillmillError REDIS_UNAVAILABLE */
export async function claimTurn(
  client: RedisClient,
  turn: { readonly tenant: Tenant; readonly turnId: TurnId },
  workerId: string,
): Promise<Claim> {
  const nonce = randomUUID();
  const keys = {
    ...sessionKeys(turn.tenant, tagOfTurn(turn.turnId)),
    ...turnKeys(turn.tenant, turn.turnId),
  };
  const reply = await claimTurnScript.run(client, sessionTurnKeys(keys), [
    turn.turnId,
    workerId,
    nonce,
    leaseMs,
  ]);
  if (reply.outcome !== 'claimed') return reply;
  const { token, now, ...claim } = reply;
  const lease = new Lease(client, { keys, token, nonce });
  if (claim.isCancelled) lease.cancel();
  return { ...claim, lease, elapsedMs: now - claim.startedAt };
}

/**
 * The right to advance one session.
 *
 *   held ──renewal refused, or none for the lease's time──▶ lost
 *   held ──stop()──▶ stopped        held ──release()──▶ released
 *
 * `signal` aborts on loss (LEASE_LOST) and when a cancel was asked for (CANCELLED).
 */
export class Lease {
  readonly proof: LeaseProof;
  private readonly client: RedisClient;
  private readonly ended = new AbortController();
  private readonly ticking: NodeJS.Timeout;
  private isStopped = false;
  /** Has another worker taken over, or may it have? */
  isLost = false;

  constructor(client: RedisClient, proof: LeaseProof) {
    this.client = client;
    this.proof = proof;
    this.ticking = this.keepAlive();
  }

  get signal(): AbortSignal {
    return this.ended.signal;
  }

  /** Ends renewal; the lease itself ends with the commit, or runs out. */
  stop(): void {
    this.isStopped = true;
    clearInterval(this.ticking);
  }

  /** Gives the lease back before the turn has a result: the attempt's last step. False: the turn is to be cancelled, and that is left
   *  to whoever has it. @throws SkillmillError REDIS_UNAVAILABLE */
  async release({ why, pauseMs, event }: Release): Promise<boolean> {
    this.stop();
    const { keys, token, nonce } = this.proof;
    const outcome = await releaseLeaseScript.run(
      this.client,
      [keys.session, keys.turn, keys.events],
      [token, nonce, why, pauseMs, JSON.stringify(event)],
    );
    return outcome !== 'cancel';
  }

  /** Ends the turn here: somebody asked for it. */
  cancel(): void {
    this.ended.abort(cancelled());
  }

  /** Says that a fenced write was refused. */
  lost(): SkillmillError {
    const error = new SkillmillError(
      'LEASE_LOST',
      'Another worker has taken this session over; nothing more is written from here.',
    );
    this.isLost = true;
    this.ended.abort(error);
    return error;
  }

  private keepAlive(): NodeJS.Timeout {
    let renewedAt = performance.now();
    let renewal: Promise<void> | undefined;
    // A cancelled turn keeps its lease until its end is committed.
    const ticking = setInterval(() => {
      if (this.isLost) {
        clearInterval(ticking);
        return;
      }
      if (performance.now() - renewedAt > leaseMs) this.lost();
      const sentAt = performance.now();
      // A renewal that hangs (Redis is away) must not keep us from seeing that the time is over.
      renewal ??= this.renew()
        .then(() => void (renewedAt = sentAt))
        .catch(() => undefined)
        .finally(() => (renewal = undefined));
    }, renewEveryMs);
    return ticking;
  }

  private async renew(): Promise<void> {
    const { keys, token, nonce } = this.proof;
    const state = await renewLeaseScript.run(this.client, [keys.session], [token, nonce, leaseMs]);
    if (this.isStopped) return;
    if (state === 'lost') this.lost();
    // A renewal that was long on its way has brought back a lease that is given up here.
    else if (this.isLost) await this.release(givenUp);
    if (state === 'cancel') this.cancel();
  }
}

/** How a turn ends that somebody cancels. */
export function cancelled(): SkillmillError {
  return new SkillmillError('CANCELLED', 'The turn was cancelled while it ran.');
}
