import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { Model, ModelReply, ModelRequest, ModelUsage } from '../model/model.js';
import type { BudgetPort } from './budget-port.js';

/** Counts tokens of requests and texts. */
export interface TokenCounter {
  ofRequest(request: ModelRequest): Promise<number>;
  ofText(text: string): Promise<number>;
}

/** An endpoint that counts nonsense must not make every later call look boundless. */
const maxCorrection = 4;

/**
 * A model whose every try is reserved before it is made and counted after it. Where the endpoint gives no usage, the reply carries
 * an estimate. Models have tokenizers of their own: what the turn's calls have shown so far corrects what is reserved next.
 */
export function budgetedModel(model: Model, budget: BudgetPort, counter: TokenCounter): Model {
  let correction = 1;
  return {
    async call(request, hooks) {
      const counted = budget.isLimited ? await counter.ofRequest(request) : 0;
      const reservation = await budget.reserve({
        model: request.model,
        inputTokens: Math.ceil(counted * correction),
        maxOutputTokens: request.maxOutputTokens,
      });
      const { maxOutputTokens } = reservation;
      const limited = maxOutputTokens === undefined ? request : { ...request, maxOutputTokens };
      let said = '';
      const onText = (text: string) => {
        said += text;
        hooks.onText(text);
      };
      let reply: ModelReply;
      try {
        reply = await model.call(limited, { ...hooks, onText });
      } catch (error) {
        if (!mayBeBilled(error, said)) await reservation.release();
        else await reservation.settle(await estimate(counter, request, said));
        throw error;
      }
      const usage = reply.usage ?? (await estimate(counter, request, textOf(reply)));
      await reservation.settle(usage);
      if (counted > 0 && usage.estimated !== true) {
        const shown = Math.min(maxCorrection, usage.inputTokens / counted);
        correction = Math.max(correction, shown);
      }
      return { ...reply, usage };
    },
  };
}

/** A call that began to answer, or was left while it was at work, is billed; one that was refused or did not reach its model is not. */
function mayBeBilled(error: unknown, said: string): boolean {
  if (said !== '' || !(error instanceof SkillmillError)) return true;
  if (error.details?.['timedOut'] === true) return true;
  return !['MODEL_UNAVAILABLE', 'MODEL_REJECTED', 'CONTEXT_OVERFLOW'].includes(error.code);
}

function textOf({ text, reasoning = '', toolCalls }: ModelReply): string {
  return [text, reasoning, ...toolCalls.map((call) => `${call.name} ${call.arguments}`)].join('\n');
}

async function estimate(
  counter: TokenCounter,
  request: ModelRequest,
  output: string,
): Promise<ModelUsage> {
  return {
    inputTokens: await counter.ofRequest(request),
    cachedInputTokens: 0,
    outputTokens: await counter.ofText(output),
    estimated: true,
  };
}
