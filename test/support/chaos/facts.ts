import type { CancelOutcome, TurnResult } from '../../../src/producer/index.js';
import type { Message } from '../../../src/shared/contracts/index.js';
import type { TurnPlan } from './chaos-plan.js';

/** A turn that `enqueue` has answered for. */
export interface AcceptedTurn {
  readonly turnId: string;
  readonly plan: TurnPlan;
  /** What a cancel was answered; `unknown`: it failed. Undefined: none was asked for. */
  readonly cancel: CancelOutcome | 'unknown' | undefined;
}

/** One entry of a turn's stream as it lies in Redis. */
export interface StreamEntry {
  readonly seq: number;
  /** Milliseconds since 1970, by Redis' clock. */
  readonly at: number;
  readonly type: string;
  readonly result?: unknown;
  /** Of a tool call's events: its id in the turn. */
  readonly callId?: string | undefined;
}

/** A line that the ledger tool wrote. */
export interface LedgerLine {
  readonly kind: 'start' | 'end' | 'stopped';
  /** Random, of this run of the call. */
  readonly run: string;
  readonly callKey: string;
  readonly turnId: string;
  readonly sessionId: string;
  readonly pid: number;
  readonly at: number;
}

/** All that the checks look at, once a run is over. */
export interface ChaosFacts {
  /** In the order in which they were enqueued. */
  readonly accepted: readonly AcceptedTurn[];
  /** By turn id; what is missing has no result. */
  readonly results: ReadonlyMap<string, TurnResult>;
  readonly events: ReadonlyMap<string, readonly StreamEntry[]>;
  /** Messages by session id. */
  readonly histories: ReadonlyMap<string, readonly Message[]>;
  /** The text of `work/chain.txt` in the session's last workspace, by session id. */
  readonly chains: ReadonlyMap<string, string>;
  readonly ledger: readonly LedgerLine[];
  /** Runs of ledger calls whose answers the model has seen, by call key. */
  readonly shown: ReadonlyMap<string, ReadonlySet<string>>;
  /** When each killed worker was killed, by its process id. */
  readonly killed: ReadonlyMap<number, number>;
  /** Workers that ended though nobody had asked them to, and what they said. */
  readonly crashes: readonly string[];
  /** What a strict model server refused. */
  readonly modelFaults: readonly string[];
  /** Keys without an expiry. */
  readonly lastingKeys: readonly string[];
}

/** Accepted turns by session, each in the order of enqueueing. */
export function bySession(facts: ChaosFacts): Map<string, AcceptedTurn[]> {
  const sessions = new Map<string, AcceptedTurn[]>();
  for (const turn of facts.accepted) {
    const { sessionId } = turn.plan;
    sessions.set(sessionId, [...(sessions.get(sessionId) ?? []), turn]);
  }
  return sessions;
}

const finalTypes = ['turn.completed', 'turn.failed', 'turn.cancelled'];

/** Is this the event that ends a turn? */
export function isFinal(entry: StreamEntry): boolean {
  return finalTypes.includes(entry.type);
}
