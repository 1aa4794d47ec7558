import { describe, expect, it } from 'vitest';
import { isExpired, sandboxLabels } from '../../../src/worker/executor/docker/labels.js';

const made = new Date('2026-01-02T03:04:05.000Z');
const labels = sandboxLabels(
  { owner: 'w-1', deployment: 'd-1' },
  { turnId: 't-1', sessionId: 's-1' },
  made,
  60_000,
);

describe('a sandbox’s labels', () => {
  it('say whose it is and when it expires', () => {
    expect(labels).toEqual({
      'skillmill.owner': 'w-1',
      'skillmill.deployment': 'd-1',
      'skillmill.turn': 't-1',
      'skillmill.session': 's-1',
      'skillmill.created': '2026-01-02T03:04:05.000Z',
      'skillmill.expires': '2026-01-02T03:05:05.000Z',
    });
  });

  it('make it expire at that time, and never without a time', () => {
    expect(isExpired(labels, new Date('2026-01-02T03:05:04.999Z'))).toBe(false);
    expect(isExpired(labels, new Date('2026-01-02T03:05:05.000Z'))).toBe(true);
    expect(isExpired({}, new Date())).toBe(false);
    expect(isExpired({ 'skillmill.expires': 'soon' }, new Date())).toBe(false);
  });
});
