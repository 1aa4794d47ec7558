import pRetry from 'p-retry';
import type { TurnEventBody } from '../../shared/contracts/index.js';
import type { JournalEntry } from '../../shared/contracts/journal.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { RedisClient } from '../../shared/redis/redis-client.js';
import { appendStepsScript } from '../../shared/redis/scripts/append-steps.js';
import type { LeaseProof } from '../session/lease.js';

/** A journal entry, and its text as the journal holds it. */
export interface WrittenEntry {
  readonly entry: JournalEntry;
  readonly text: string;
}

/** What is written in one Redis step. */
export interface Step {
  readonly events: readonly TurnEventBody[];
  readonly entries: readonly WrittenEntry[];
}

export interface WriterOptions {
  readonly client: RedisClient;
  readonly proof: LeaseProof;
  /** May the lease still be in force? */
  readonly isHeld: () => boolean;
  /** Says that the lease is no longer in force; the error to end with. */
  readonly onLost: () => SkillmillError;
  /** A write failed, and is tried again as long as the lease may hold. */
  readonly onFault: (error: SkillmillError) => void;
}

const firstPauseMs = 100;
const longestPauseMs = 2000;

/**
 * Writes an attempt's steps with the lease's proof, one after another, each once. What Redis refuses is tried again until it is
 * written or the lease is lost; nothing is written behind a step that is not.
 */
export class TurnWriter {
  private readonly options: WriterOptions;
  private number = 0;
  private ended: SkillmillError | undefined;
  /** Messages that have deltas, or an end that no entry holds yet: another attempt has to discard them. */
  private readonly openMessages = new Set<string>();
  /** How many messages wait to join the turn, as of the last write. */
  waiting = 0;
  /** Has a reply or a result been journalled? */
  hasProgress = false;

  constructor(options: WriterOptions) {
    this.options = options;
  }

  /** Takes over the messages that an attempt before left open. */
  adopt(messageIds: readonly string[]): void {
    for (const messageId of messageIds) this.openMessages.add(messageId);
  }

  /** Writes one step; the one before must have ended. @throws SkillmillError LEASE_LOST, INTERNAL, and nothing is written from then on */
  async write(step: Step): Promise<void> {
    if (this.ended !== undefined) throw this.ended;
    if (step.events.length + step.entries.length === 0) return;
    const isProgress = step.entries.some(({ entry }) => ['reply', 'result'].includes(entry.kind));
    const { keys, token, nonce } = this.options.proof;
    this.number += 1;
    const args = [
      ...[token, nonce, this.number, isProgress ? 1 : 0, this.openMessagesAfter(step)],
      ...[step.events.length, ...step.events.map((body) => JSON.stringify(body))],
      ...step.entries.map(({ text }) => text),
    ];
    try {
      const { outcome, waiting } = await this.patiently(() =>
        appendStepsScript.run(
          this.options.client,
          [keys.session, keys.turn, keys.events, keys.journal, keys.steered],
          args,
        ),
      );
      if (outcome === 'lost') throw this.options.onLost();
      this.waiting = waiting;
      this.hasProgress ||= isProgress;
    } catch (error) {
      const fault = SkillmillError.from(error);
      const isOurs = fault.code === 'LEASE_LOST' || this.options.isHeld();
      this.ended = isOurs ? fault : this.options.onLost();
      throw this.ended;
    }
  }

  private patiently<Reply>(work: () => Promise<Reply>): Promise<Reply> {
    return pRetry(work, {
      retries: Infinity,
      minTimeout: firstPauseMs,
      maxTimeout: longestPauseMs,
      factor: 2,
      onFailedAttempt: ({ error }) => this.options.onFault(SkillmillError.from(error)),
      shouldRetry: ({ error }) =>
        error instanceof SkillmillError &&
        error.code === 'REDIS_UNAVAILABLE' &&
        this.options.isHeld(),
    });
  }

  /** What the turn is to hold of them after a step; `=` when that is nothing new. */
  private openMessagesAfter({ events, entries }: Step): string {
    const open = this.openMessages;
    const before = [...open].join(' ');
    for (const body of events) {
      if (body.type === 'message.delta' || body.type === 'message.completed') {
        open.add(body.messageId);
      }
      if (body.type === 'message.discarded') open.delete(body.messageId);
    }
    for (const { entry } of entries) if (entry.kind === 'reply') open.delete(entry.messageId);
    const after = [...open].join(' ');
    return after === before ? '=' : after;
  }
}
