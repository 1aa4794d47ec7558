import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dropMarker, OutputCap } from '../../../src/worker/executor/output-cap.js';

function capture(chunks: readonly Uint8Array[], limit: number) {
  const cap = new OutputCap(limit);
  const live = chunks.map((chunk) => cap.push(chunk));
  live.push(cap.end());
  return { live: live.join(''), captured: cap.captured() };
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const edges = [0, ...cuts.filter((each) => each < bytes.length), bytes.length].sort(
    (a, b) => a - b,
  );
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
}

const loneSurrogate = /\p{Surrogate}/u;

describe('the output cap', () => {
  const cuts = fc.array(fc.nat({ max: 300 }), { maxLength: 30 });

  it('keeps text below its limit whole, wherever it was cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), cuts, (text, at) => {
        const bytes = Buffer.from(text, 'utf8');
        const { live, captured } = capture(cutAt(bytes, at), bytes.length);
        expect(live).toBe(text);
        expect(captured).toEqual({ text, totalBytes: bytes.length, droppedBytes: 0 });
      }),
    );
  });

  it('keeps head and tail of longer text, never cuts a character and never exceeds its limit', () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(text, cuts, fc.nat({ max: 60 }), (whole, at, limit) => {
        const bytes = Buffer.from(whole, 'utf8');
        fc.pre(bytes.length > limit);
        const { captured } = capture(cutAt(bytes, at), limit);
        const [head, tail, none] = captured.text.split(dropMarker(captured.droppedBytes));
        expect(none).toBeUndefined();
        expect(whole.startsWith(head ?? '?')).toBe(true);
        expect(whole.endsWith(tail ?? '?')).toBe(true);
        const kept = Buffer.byteLength(`${head ?? ''}${tail ?? ''}`);
        expect(kept).toBeLessThanOrEqual(limit);
        expect(kept).toBeGreaterThan(limit - 7); // up to three bytes of a character at each side of the cut
        expect(kept + captured.droppedBytes).toBe(captured.totalBytes);
      }),
    );
  });

  it('makes valid text within its limit of any bytes', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        cuts,
        fc.nat({ max: 100 }),
        (bytes, at, limit) => {
          const { live, captured } = capture(cutAt(Buffer.from(bytes), at), limit);
          expect(captured.text).not.toMatch(loneSurrogate);
          expect(live).not.toMatch(loneSurrogate);
          const marker = captured.droppedBytes === 0 ? '' : dropMarker(captured.droppedBytes);
          expect(Buffer.byteLength(captured.text)).toBeLessThanOrEqual(limit + marker.length);
          expect(captured.totalBytes).toBe(bytes.length);
        },
      ),
    );
  });

  it('is right for many tiny writes', () => {
    const cap = new OutputCap(1000);
    for (let index = 0; index < 100_000; index += 1) cap.push(Buffer.from(String(index % 10)));
    cap.end();
    const ten = '0123456789';
    expect(cap.captured()).toEqual({
      text: `${ten.repeat(50)}${dropMarker(99_000)}${ten.repeat(50)}`,
      totalBytes: 100_000,
      droppedBytes: 99_000,
    });
  });
});
