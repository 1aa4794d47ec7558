import type { Message, TurnEventBody, WorkspaceVersion } from '../../shared/contracts/index.js';
import type {
  JournalEntry,
  JournalledReply,
  JournalledResult,
  PinnedSkill,
} from '../../shared/contracts/journal.js';
import type { BlobStore } from '../../shared/blobs/blob-store.js';
import type { AnsweredCall, BegunCall, LoopJournal } from '../agent/loop-journal.js';
import type { EventSink } from '../publish/event-sink.js';
import { untilAbort } from '../async/until-abort.js';
import type { TurnArtifacts } from '../publish/turn-artifacts.js';
import { JournalLog } from '../session/journal-log.js';
import type { JournalledSummary, JournalReplay } from '../session/journal-replay.js';
import type { ArtifactPins } from '../session/pinned-artifacts.js';
import type { TurnBudget } from '../session/turn-budget.js';
import type { SkillPins } from '../skills/skill-pins.js';
import type { SkillStateHolder } from '../tools/tool.js';
import type { Workspace } from '../workspace/workspace.js';
import type { ClaimedTurn } from './turn-deps.js';

export interface TurnJournalOptions {
  readonly turn: Pick<ClaimedTurn, 'turnId' | 'attempt'>;
  /** The list of skills that every request of the turn carries. */
  readonly overview: string;
  readonly replay: JournalReplay;
  readonly sink: EventSink;
  readonly blobs: Pick<BlobStore, 'put'>;
  readonly workspace: Pick<Workspace, 'commands' | 'checkpointed' | 'isUnsaved' | 'wasLost'>;
  readonly signal: AbortSignal;
  readonly skillState: SkillStateHolder;
  readonly artifacts: Pick<TurnArtifacts, 'saved' | 'restore'>;
  readonly pins: ArtifactPins;
  readonly skillPins: Pick<SkillPins, 'takeFresh' | 'restore'>;
  readonly budget: Pick<TurnBudget, 'soFar' | 'restore'>;
  /** Takes the messages that wait to join the turn out of their place, and journals them, in one step. */
  readonly joining: () => Promise<readonly Message[]>;
}

type Changes = Pick<JournalledResult, 'state' | 'artifacts' | 'pins' | 'sandboxLost'>;

/** What a call may change, as it is now. */
interface Stand {
  readonly state: unknown;
  readonly saved: number;
  readonly pins: ReadonlyMap<string, number>;
  readonly commands: number;
}

/** A turn's journal as the loop uses it: it answers what the attempts before have done already, and keeps what this one does. */
export class TurnJournal implements LoopJournal {
  private readonly options: TurnJournalOptions;
  private readonly log: JournalLog;
  private isOpened: boolean;
  /** Calls on their way, and what happened in them so far. */
  private running = 0;
  private held: TurnEventBody[] = [];
  /** Is there a reason to look for messages that no write has told of? */
  private mustLook: boolean;

  constructor(options: TurnJournalOptions) {
    const { sink, blobs, workspace, replay, skillPins } = options;
    this.options = options;
    this.log = new JournalLog({ sink, blobs, checkpointed: () => workspace.checkpointed() });
    // They may have come while nobody ran the turn.
    this.mustLook = options.turn.attempt > 1;
    this.isOpened = replay.opened !== undefined;
    skillPins.restore(replay.opened?.skills ?? []);
  }

  /** Does an attempt before go on here, so that what it has told is not told again? */
  get isContinued(): boolean {
    return this.options.replay.opened !== undefined;
  }

  /** The reply to the next model call, when an attempt before got it. */
  get nextReply(): JournalledReply | undefined {
    return this.options.replay.nextReply;
  }

  /** That reply, once: what it has cost is counted. */
  takeReply(): void {
    const reply = this.options.replay.takeReply();
    if (reply !== undefined) this.options.budget.restore(reply.cost);
  }

  /** The next summary that an attempt before has made for the next model call: what it has cost is counted. */
  takeSummary(): JournalledSummary | undefined {
    const summary = this.options.replay.takeSummary();
    if (summary !== undefined) this.options.budget.restore(summary.cost);
    return summary;
  }

  async takeMessages(): Promise<readonly Message[]> {
    const { replay, sink, joining } = this.options;
    const known = replay.takeMessages();
    if (replay.nextReply !== undefined) return known;
    if (sink.waiting === 0 && !this.mustLook) return known;
    this.mustLook = false;
    return [...known, ...(await joining())];
  }

  /** A message has come that the last write did not tell of. */
  expectMessages(): void {
    this.mustLook = true;
  }

  /** Tells of what happens in a call with the call's end, and of what happens outside of one at once. */
  say(event: TurnEventBody): void {
    if (this.running > 0) this.held.push(event);
    else this.options.sink.emit(event);
  }

  async reply(
    { reply, model, shrunkTo, messageId, ms }: Parameters<LoopJournal['reply']>[0],
    events: readonly TurnEventBody[],
  ): Promise<void> {
    const entry: JournalEntry = {
      kind: 'reply',
      messageId,
      model,
      reply: { ...reply, toolCalls: [...reply.toolCalls] },
      ms: Math.round(ms),
      ...(shrunkTo.length === 0 ? {} : { shrunkTo: [...shrunkTo] }),
      cost: this.options.budget.soFar,
    };
    // They may come while its calls run, and a command's result is not written before the next model call.
    this.mustLook = reply.toolCalls.length > 0;
    const opened = this.isOpened ? [] : [await this.opened()];
    this.isOpened = true;
    // Who has to end does not wait for a Redis that is away; what was said stays said.
    const { signal } = this.options;
    await untilAbort(this.log.write([...opened, entry], events), signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }

  /** Journals a summary, or that none could be made. */
  summary(made: Pick<JournalledSummary, 'text' | 'usage'>): void {
    const entry = { kind: 'summary', ...made, cost: this.options.budget.soFar } as const;
    void this.log.note(entry).catch(() => undefined); // the lease is lost: the attempt ends by itself
  }

  answered(callId: string): AnsweredCall | undefined {
    const result = this.options.replay.resultOf(callId);
    if (result === undefined) return undefined;
    const { skillState, artifacts, pins, skillPins, workspace } = this.options;
    if (result.state !== undefined) skillState.set(result.state);
    for (const artifact of result.artifacts ?? []) artifacts.restore(artifact);
    for (const [name, version] of Object.entries(result.pins ?? {})) pins.set(name, version);
    skillPins.restore(result.skills ?? []);
    if (result.sandboxLost !== undefined) workspace.wasLost = result.sandboxLost;
    return { message: result.message, record: result.record };
  }

  async begin(callId: string, event: (attempt: number) => TurnEventBody): Promise<BegunCall> {
    const attempt = this.options.replay.startsOf(callId) + 1;
    const noted = this.log.note({ kind: 'start', callId }, [event(attempt)]);
    await untilAbort(noted, this.options.signal);
    const before = this.stand();
    this.running += 1;
    return {
      attempt,
      end: ({ message, record }, completed) => {
        this.log.finish({
          entry: { kind: 'result', callId, message, record, ...this.changesSince(before) },
          events: this.endCall(completed),
          skills: this.options.skillPins.takeFresh(),
          needsCheckpoint: this.ranCommand(before) && this.options.workspace.isUnsaved,
        });
      },
      giveUp: (completed) => this.options.sink.emit(...this.endCall(completed)),
    };
  }

  /** A checkpoint is durable. */
  saved(version: WorkspaceVersion | undefined): void {
    this.log.saved(version);
  }

  /** Waits until all is written that may be. */
  async settle(): Promise<void> {
    await this.log.settle();
  }

  private async opened(): Promise<JournalEntry> {
    const { turn, overview, skillPins } = this.options;
    const skills: readonly PinnedSkill[] = await skillPins.takeFresh();
    return { kind: 'opened', turnId: turn.turnId, overview, skills: [...skills] };
  }

  private endCall(completed: TurnEventBody): readonly TurnEventBody[] {
    this.running -= 1;
    return [...this.held.splice(0), completed];
  }

  private stand(): Stand {
    const { skillState, artifacts, pins, workspace } = this.options;
    return {
      state: skillState.get(),
      saved: artifacts.saved.length,
      pins: new Map(pins.entries()),
      commands: workspace.commands,
    };
  }

  private ranCommand(before: Stand): boolean {
    return this.options.workspace.commands > before.commands;
  }

  /** Calls that run beside each other change nothing, so what has changed is this one's doing. */
  private changesSince(before: Stand): Changes {
    const { skillState, artifacts, pins, workspace } = this.options;
    const state = skillState.get();
    const saved = artifacts.saved.slice(before.saved);
    const pinned = [...pins.entries()].filter(([name, version]) => {
      return before.pins.get(name) !== version;
    });
    return {
      ...(state === before.state ? {} : { state: state.map(plainSkill) }),
      ...(saved.length === 0 ? {} : { artifacts: saved }),
      ...(pinned.length === 0 ? {} : { pins: Object.fromEntries(pinned) }),
      ...(this.ranCommand(before) ? { sandboxLost: workspace.wasLost } : {}),
    };
  }
}

function plainSkill({
  name,
  docs,
  tools,
}: ReturnType<SkillStateHolder['get']>[number]): NonNullable<JournalledResult['state']>[number] {
  const listed = (selection: typeof docs) => (selection === '*' ? selection : [...selection]);
  return { name, docs: listed(docs), tools: listed(tools) };
}
