import type { Message } from '../../shared/contracts/index.js';
import type { JournalledReply } from '../../shared/contracts/journal.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { AskOptions, TurnAnswer } from '../agent/agent-ports.js';
import { callWithRetries, type ModelAnswer, type RetryHooks } from '../model/model-retry.js';
import { buildRequest, toModelMessage, type UnaddressedRequest } from '../prompt/build-request.js';
import { ContextWindow, type Fit, type Measured } from '../prompt/context-window.js';
import type { OpenTurn } from './open-turn.js';
import { lastChanceNote, requestOf, requestPartsOf } from './request-of.js';
import { summarize } from './summarize.js';
import type { TurnDeps } from './turn-deps.js';

/** What of a window is kept free for the answer when the turn does not say how long that may be. */
const answerShare = 0.1;
/** How much shorter a conversation becomes that an endpoint found too long without saying what it takes. */
const shrinkShare = 0.6;

/** A turn's model: builds each request to fit the window, makes the call with its retries, and counts what it took. */
export class TurnModel {
  private readonly deps: TurnDeps;
  private readonly open: OpenTurn;
  private readonly window: ContextWindow;
  private models: readonly string[];
  /** Tokens that a request may take; 0 is no limit. */
  private readonly limit: number;
  private messagesSent = 0;

  constructor(deps: TurnDeps, open: OpenTurn) {
    const { model, maxOutputTokens } = open.turn.request;
    const { contextTokens } = deps.modelConfig;
    this.deps = deps;
    this.open = open;
    this.window = new ContextWindow(open.turn.turnId);
    this.models = model === undefined ? deps.modelConfig.models : [model];
    const reserved = maxOutputTokens ?? Math.ceil(contextTokens * answerShare);
    this.limit = contextTokens === 0 ? 0 : Math.max(1, contextTokens - reserved);
  }

  /** One model call for the turn as it is; one that an attempt before has made is answered from the journal. @throws SkillmillError CONTEXT_OVERFLOW, MODEL_*, LIMIT_EXCEEDED */
  async call(options: AskOptions, hooks: RetryHooks): Promise<TurnAnswer> {
    this.clearShownOnce();
    const request = await this.fitted(options, hooks.signal);
    const known = this.open.journal.nextReply;
    if (known !== undefined) return this.replayed(known, options, hooks.signal);
    try {
      return { ...(await this.answered(request, hooks)), shrunkTo: [] };
    } catch (error) {
      if (!(error instanceof SkillmillError) || error.code !== 'CONTEXT_OVERFLOW') throw error;
      // Once, and only when there is something to leave out: the same request would be refused again.
      const limit = await this.shrunkLimit(request, error);
      if (!(await this.fitInto(limit, hooks.signal)).changed) throw error;
      hooks.onRetry(error, 0);
      const again = await this.fitted(options, hooks.signal);
      return { ...(await this.answered(again, hooks)), shrunkTo: [limit] };
    }
  }

  /** Does all that a call does but for the call itself, so that the next request is what it would have been. */
  private async replayed(
    { reply, model, shrunkTo = [], ms }: JournalledReply,
    options: AskOptions,
    signal: AbortSignal,
  ): Promise<TurnAnswer> {
    for (const limit of shrunkTo) {
      await this.fitInto(limit, signal);
      await this.fitted(options, signal);
    }
    this.open.journal.takeReply();
    const answer = { reply: { ...reply, usage: reply.usage }, model };
    this.count(answer);
    return { ...answer, shrunkTo, journalledMs: ms };
  }

  /** Load mode `once`: what a request has shown is not loaded any more, unless that request was for nothing and is made again. */
  private clearShownOnce(): void {
    const { shown, skillState, transcript } = this.open;
    if (transcript.messages.length === this.messagesSent) return;
    this.messagesSent = transcript.messages.length;
    const cleared = shown.takeCleared();
    if (cleared.length === 0) return;
    skillState.set(skillState.get().filter(({ name }) => !cleared.includes(name)));
  }

  private async fitted(options: AskOptions, signal: AbortSignal): Promise<UnaddressedRequest> {
    if (this.limit > 0 && !(await this.fitInto(this.limit, signal)).fits) {
      throw new SkillmillError(
        'CONTEXT_OVERFLOW',
        `The turn's own messages, its skills and its tools take more than the ${this.limit} tokens that SKILLMILL_CONTEXT_TOKENS leaves for a request. Ask for less at a time, or load fewer skills.`,
        { details: { limit: this.limit } },
      );
    }
    return requestOf(this.open, this.window, options);
  }

  private async fitInto(
    limit: number,
    signal: AbortSignal,
  ): Promise<Pick<Fit, 'fits' | 'changed'>> {
    let changed = false;
    for (;;) {
      const fit = await this.window.fit(await this.measured(), limit);
      changed ||= fit.changed;
      await this.onDropped(fit.dropped, limit, signal);
      // What was dropped may have put a skill's text or a summary into the system message: measure again.
      if (fit.dropped.length === 0) return { fits: fit.fits, changed };
    }
  }

  private async measured(): Promise<Measured> {
    const { open, window } = this;
    const { meter } = open;
    const parts = requestPartsOf(open, window);
    // All but the conversation: the system message, what stands at the end, the tools.
    const fixed = buildRequest({ ...parts, messages: [], note: lastChanceNote });
    return {
      messages: open.summary.uncovered([...open.history, ...open.transcript.messages]),
      fixedTokens: await meter.ofRequest(fixed),
      sizeOf: (message, shortened) =>
        meter.ofMessage(toModelMessage(message, { ...parts, shortened: () => shortened })),
    };
  }

  /** What loaded skills showed in turns that are gone is shown at the top; the rest may be summarised. */
  private async onDropped(
    dropped: readonly Message[],
    limit: number,
    signal: AbortSignal,
  ): Promise<void> {
    if (dropped.length === 0) return;
    const { open, deps } = this;
    for (const shown of open.shown.forget(dropped)) {
      await open.content.prepare(shown);
      open.shown.showAtTop(shown);
    }
    if (deps.modelConfig.contextOverflow !== 'summarize') return;
    await summarize(dropped, { open, deps, model: this.models[0] ?? '', limit, signal });
  }

  /** How short a conversation has to become that was refused as too long. */
  private async shrunkLimit(request: UnaddressedRequest, error: SkillmillError): Promise<number> {
    const known = error.details?.['limit'];
    const size = await this.open.meter.ofRequest(request);
    const asked = typeof known === 'number' && known < size ? known : size;
    return Math.floor(asked * shrinkShare);
  }

  private async answered(request: UnaddressedRequest, hooks: RetryHooks): Promise<ModelAnswer> {
    const answer = await callWithRetries(this.open.model, request, this.models, hooks);
    this.count(answer);
    return answer;
  }

  private count({ reply, model }: ModelAnswer): void {
    // What stood in for a model that is away is asked first from now on.
    this.models = this.models.slice(Math.max(0, this.models.indexOf(model)));
    if (reply.usage !== undefined) this.open.limits.addTokens(reply.usage);
  }
}
