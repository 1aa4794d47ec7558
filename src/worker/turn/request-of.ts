import type { AskOptions } from '../agent/agent-ports.js';
import {
  buildRequest,
  type RequestParts,
  type UnaddressedRequest,
} from '../prompt/build-request.js';
import type { ContextWindow } from '../prompt/context-window.js';
import type { OpenTurn } from './open-turn.js';

/** What a model is told when its calls are used up. */
export const lastChanceNote =
  '[Your model calls are used up. Answer now with what you have; tools cannot be called any more.]';

/** The next request of a turn. */
export function requestOf(
  open: OpenTurn,
  window: ContextWindow,
  { lastChance }: AskOptions,
): UnaddressedRequest {
  const parts = requestPartsOf(open, window);
  return buildRequest(lastChance ? { ...parts, note: lastChanceNote, mayCallTools: false } : parts);
}

/** What the next request of a turn is made of. */
export function requestPartsOf(open: OpenTurn, window: ContextWindow): RequestParts {
  const { request, turnId } = open.turn;
  return {
    turnId,
    temperature: request.temperature,
    maxOutputTokens: request.maxOutputTokens,
    responseFormat: request.responseFormat,
    instructions: request.instructions,
    guidance: open.guidance,
    overview: open.overview,
    summary: open.summary.text,
    atTop: open.shown.system(open.skillState.get()),
    trailing: open.shown.trailing(open.skillState.get()),
    messages: window.keep(open.summary.uncovered([...open.history, ...open.transcript.messages])),
    tools: open.belt.definitions(),
    filledIn: (message) => open.shown.filledIn(message),
    contentOf: (shown) => open.content.textOf(shown),
    shortened: (message) => window.shortened(message),
  };
}
