import { z } from 'zod';
import { modelList, onOff, timerSeconds, url, whole } from '../env-values.js';
import { variable } from './variable.js';

/** The model endpoint, and what one call of it may take. */
export const modelVariables = {
  OPENAI_API_KEY: variable({
    schema: z.string().regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters only'),
    aliases: ['TRPC_AGENT_API_KEY'],
    description: 'Key of the model endpoint; may be left out when OPENAI_BASE_URL needs none',
    secret: true,
  }),
  OPENAI_BASE_URL: variable({
    schema: url(['http:', 'https:']),
    default: 'https://api.openai.com/v1',
    aliases: ['TRPC_AGENT_BASE_URL'],
    description: 'OpenAI-compatible endpoint',
  }),
  OPENAI_MODEL: variable({
    schema: modelList,
    aliases: ['TRPC_AGENT_MODEL_NAME'],
    description:
      'Model that a turn uses unless it names one; more, comma-separated, stand in for it in this order when it is away',
  }),
  SKILLMILL_STREAM: variable({
    schema: onOff,
    default: '1',
    description: '1 streams the model’s answers: their text is published as it comes',
  }),
  SKILLMILL_CONTEXT_TOKENS: variable({
    schema: whole(0, 100_000_000),
    default: '0',
    description:
      'Tokens that the model’s window takes; a longer conversation is shortened to fit; 0: only when the endpoint says so',
  }),
  SKILLMILL_CONTEXT_OVERFLOW: variable({
    schema: z.enum(['drop', 'summarize'], 'must be drop or summarize'),
    default: 'drop',
    description: 'Old turns that no longer fit are dropped, or summarised by the model',
  }),
  SKILLMILL_MODEL_TIMEOUT: variable({
    schema: timerSeconds,
    default: '600',
    description: 'Seconds that one model call may take',
  }),
  SKILLMILL_MODEL_IDLE_TIMEOUT: variable({
    schema: timerSeconds,
    default: '120',
    description: 'Seconds that a streamed answer may say nothing',
  }),
} as const;
