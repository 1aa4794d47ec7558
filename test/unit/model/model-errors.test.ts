import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';
import { asModelError, type FailedCall } from '../../../src/worker/model/model-errors.js';

const secret = 'sk-canary-0123456789';
const call = (over: Partial<FailedCall> = {}): FailedCall => ({
  endpoint: 'https://user:pw@api.example:8443/v1',
  timeoutMs: 1500,
  status: undefined,
  headers: undefined,
  timedOut: false,
  stalledMs: undefined,
  isUnreadable: false,
  isErrorObject: false,
  redact: (text) => text.replaceAll(secret, '***'),
  ...over,
});

describe('asModelError', () => {
  it.each([
    ...[408, 409, 429, 500, 502, 503, 529].map((status) => [status, 'MODEL_UNAVAILABLE'] as const),
    ...[400, 401, 403, 404, 413, 422].map((status) => [status, 'MODEL_REJECTED'] as const),
  ])('HTTP %i is %s', (status, code) => {
    const error = asModelError(new Error(`${status} said`), call({ status }));
    expect(error).toMatchObject({ code, details: { status } });
    expect(error.retryable).toBe(code === 'MODEL_UNAVAILABLE');
    expect(error.message).toContain(`answered ${status} said`);
  });

  it.each([
    [401, 'OPENAI_API_KEY'],
    [403, 'OPENAI_API_KEY'],
    [404, 'OPENAI_MODEL'],
  ])('HTTP %i says what to look at: %s', (status, advice) => {
    expect(asModelError(new Error('no'), call({ status })).message).toContain(advice);
  });

  it('a time-out names the time and its variable; an endpoint that is away names its host', () => {
    expect(asModelError(new Error('x'), call({ timedOut: true }))).toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: expect.stringMatching(
        /api\.example:8443 .*1\.5 s \(SKILLMILL_MODEL_TIMEOUT\)/,
      ) as string,
    });
    expect(asModelError(new Error('ECONNREFUSED'), call())).toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
  });

  it('an answer that is no JSON is MODEL_PROTOCOL', () => {
    const error = asModelError(new SyntaxError('Unexpected token'), call({ isUnreadable: true }));
    expect(error).toMatchObject({ code: 'MODEL_PROTOCOL', retryable: false });
    expect(error.message).toContain('OPENAI_BASE_URL');
  });

  it('leaves our own errors as they are', () => {
    const ours = new SkillmillError('MODEL_PROTOCOL', 'x');
    expect(asModelError(ours, call({ status: 500 }))).toBe(ours);
  });

  it('never shows the key, however often it stands where', () => {
    const around = fc.string({ maxLength: 200 });
    fc.assert(
      fc.property(around, around, fc.constantFrom(undefined, 401, 500), (a, b, status) => {
        const text = `${a}${secret}${b}${secret}`;
        const { message } = asModelError(new Error(text), call({ status })).toPublic();
        expect(message).not.toContain(secret);
        expect(message).not.toContain('user:pw');
      }),
    );
  });

  it('never shows the beginning of a key that stands across the cut', () => {
    const text = `${'x'.repeat(482)}${secret}`;
    const { message } = asModelError(new Error(text), call({ status: 401 }));
    expect(message).not.toContain('sk-canary');
  });

  it('bounds what an endpoint says', () => {
    const long = asModelError(new Error('y'.repeat(10_000)), call({ status: 500 }));
    expect(long.message.length).toBeLessThan(700);
  });
});
