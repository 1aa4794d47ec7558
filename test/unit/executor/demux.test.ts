import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Demuxer } from '../../../src/worker/executor/docker/demux.js';

interface Frame {
  stream: 'stdout' | 'stderr';
  bytes: Uint8Array;
}

function encode({ stream, bytes }: Frame): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt8(stream === 'stdout' ? 1 : 2, 0);
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
}

function decode(chunks: readonly Buffer[]): Record<'stdout' | 'stderr', string> {
  const demuxer = new Demuxer();
  const parts: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
  for (const chunk of chunks) {
    for (const piece of demuxer.push(chunk)) parts[piece.stream].push(Buffer.from(piece.bytes));
  }
  return {
    stdout: Buffer.concat(parts.stdout).toString('latin1'),
    stderr: Buffer.concat(parts.stderr).toString('latin1'),
  };
}

describe('the demultiplexer', () => {
  const frames: Frame[] = [
    { stream: 'stdout', bytes: Buffer.from([0xf0, 0x9f]) },
    { stream: 'stderr', bytes: Buffer.from('err\n') },
    { stream: 'stdout', bytes: Buffer.from([0x9a, 0x80]) },
    { stream: 'stderr', bytes: Buffer.alloc(0) },
    { stream: 'stdout', bytes: Buffer.from([1, 0, 0, 0, 0, 0, 0, 5]) },
  ];
  const whole = Buffer.concat(frames.map(encode));
  const expected = { stdout: '\xf0\x9f\x9a\x80\x01\0\0\0\0\0\0\x05', stderr: 'err\n' };

  it('gives the same wherever the stream is cut', () => {
    for (let at = 0; at <= whole.length; at += 1) {
      expect(decode([whole.subarray(0, at), whole.subarray(at)]), `cut at ${at}`).toEqual(expected);
    }
    expect(decode([...whole].map((byte) => Buffer.from([byte])))).toEqual(expected);
  });

  it('gives each stream its bytes, in order, for all frames and cuts', () => {
    const frame = fc.record({
      stream: fc.constantFrom('stdout' as const, 'stderr' as const),
      bytes: fc.uint8Array({ maxLength: 40 }),
    });
    const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 20 });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), cuts, (made, at) => {
        const bytes = Buffer.concat(made.map(encode));
        const edges = [0, ...at.filter((each) => each < bytes.length), bytes.length].sort(
          (a, b) => a - b,
        );
        const chunks = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
        const of = (stream: string) =>
          Buffer.concat(
            made.filter((each) => each.stream === stream).map((each) => each.bytes),
          ).toString('latin1');
        expect(decode(chunks)).toEqual({ stdout: of('stdout'), stderr: of('stderr') });
      }),
    );
  });

  it.each([
    ['of kind 0 (input)', [0, 0, 0, 0, 0, 0, 0, 1]],
    ['of kind 3', [3, 0, 0, 0, 0, 0, 0, 1]],
    ['that is text', [...Buffer.from('hello wo')]],
    ['with bytes where none may be', [1, 0, 7, 0, 0, 0, 0, 1]],
  ])('refuses a header %s', (_name, header) => {
    expect(() => new Demuxer().push(Buffer.from(header))).toThrow(/frame/);
  });
});
