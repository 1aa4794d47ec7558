import { describe, expect, it } from 'vitest';
import { overflowOf } from '../../../src/worker/model/context-overflow.js';

describe('a conversation that is too long', () => {
  it.each([
    ['maximum context length is 8192 tokens, you asked for 9000', { limit: 8192, asked: 9000 }],
    [
      "Input length (9,001) exceeds model's maximum context length (8,192).",
      { limit: 8192, asked: 9001 },
    ],
    ['tokens in request more than max tokens allowed', {}],
    ['prompt is too long: 210000 tokens > 200000 maximum', { limit: 200_000, asked: 210_000 }],
    [
      'The input token count (40000) exceeds the maximum number of tokens allowed (32768).',
      { limit: 32_768, asked: 40_000 },
    ],
    ['the request exceeds the available context size', {}],
    ['context_length_exceeded', {}],
  ])('is known by %j', (message, known) => {
    expect(overflowOf(`400 ${message}`, 400)).toEqual(known);
    expect(overflowOf(message, undefined)).toEqual(known);
  });

  it.each([
    'max_tokens must be at most 4096',
    'max_completion_tokens is too large: 100000. This model supports at most 16384 completion tokens',
    'Invalid value for temperature',
    'The model `x` does not exist',
  ])('is not seen in %j', (message) => {
    expect(overflowOf(message, 400)).toBeUndefined();
  });

  it('is never seen in another kind of refusal', () => {
    expect(overflowOf('context_length_exceeded', 429)).toBeUndefined();
    expect(overflowOf('context_length_exceeded', 401)).toBeUndefined();
  });
});
