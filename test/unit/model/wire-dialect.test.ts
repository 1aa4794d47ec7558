import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../../src/worker/model/model.js';
import { toWire } from '../../../src/worker/model/to-wire.js';
import { WireDialect } from '../../../src/worker/model/wire-dialect.js';

const request: ModelRequest = {
  model: 'm',
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'ho', toolCalls: [], reasoning: 'why', model: 'm' },
  ],
  tools: [],
  temperature: 0,
  maxOutputTokens: 5,
};

describe('what an endpoint refuses by name', () => {
  it.each([
    [
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'max_tokens',
    ],
    [
      "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
      'temperature',
    ],
    ['unknown field `stream_options`', 'stream_options'],
    ['messages.1.assistant.reasoning_content: Extra inputs are not permitted', 'reasoning_content'],
  ])('%s', (message, field) => {
    const dialect = new WireDialect('http://x/v1');
    const before = toWire(request, dialect, true);
    expect(JSON.stringify(before)).toContain(`"${field}":`);
    expect(dialect.learn(message, before)).toBe(true);
    const after = toWire(request, dialect, true);
    expect(JSON.stringify(after)).not.toContain(`"${field}":`);
    expect(dialect.learn(message, after)).toBe(false);
  });

  it('is left out, and the output limit goes by its other name', () => {
    const dialect = new WireDialect('http://x/v1');
    const sent = toWire(request, dialect, false);
    expect(sent['max_tokens']).toBe(5);
    dialect.learn("'max_tokens' is not supported", sent);
    expect(toWire(request, dialect, false)['max_completion_tokens']).toBe(5);
    expect(toWire(request, new WireDialect('https://api.openai.com/v1'), false)).toMatchObject({
      max_completion_tokens: 5,
    });
  });

  it.each(['max_tokens must be at most 4096', 'temperature must be below 2', 'unknown model'])(
    'is not learnt from %j',
    (message) => {
      const dialect = new WireDialect('http://x/v1');
      expect(dialect.learn(message, toWire(request, dialect, true))).toBe(false);
    },
  );
});

describe('what is a provider’s own', () => {
  it('goes back to the model that said it, and to no other', () => {
    const dialect = new WireDialect('http://x/v1');
    const own = JSON.stringify(toWire(request, dialect, false));
    const other = JSON.stringify(toWire({ ...request, model: 'other' }, dialect, false));
    expect(own).toContain('"reasoning_content":"why"');
    expect(other).not.toContain('why');
  });
});
