import { expect, it } from 'vitest';
import { retryAfterMs } from '../../../src/shared/download/retry-after.js';

const now = Date.parse('2026-01-01T00:00:00Z');

it.each([
  [{ 'retry-after': '3' }, 3000],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after': '3600' }, 3_600_000],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:03 GMT' }, 3000],
  [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
  [{ 'retry-after-ms': '1500' }, 1500],
  [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
  [{ 'retry-after-ms': 'x', 'retry-after': '9' }, 9000],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '-1' }, undefined],
  [{ 'retry-after': '1e3' }, undefined],
  [{ 'retry-after': '99999999999' }, undefined],
  [{ 'retry-after': 'Thu, 99 Foo' }, undefined],
  [{}, undefined],
])('%j asks for %s ms', (headers, ms) => {
  expect(retryAfterMs(new Headers(Object.entries(headers)), now)).toBe(ms);
});
