import { describe, expect, it } from 'vitest';
import { EndMarker } from '../../../src/worker/executor/docker/end-marker.js';

const nonce = 'a1a1a1b2';
const ending = { exitCode: 137, oomKills: 2, left: false, quiet: true };

/** What comes through when the bytes come in pieces of that size. */
function through(text: string, size: number) {
  const marker = new EndMarker(nonce);
  const bytes = Buffer.from(text, 'latin1');
  let content = '';
  for (let at = 0; at < bytes.length; at += size) {
    content += marker.push(bytes.subarray(at, at + size)).toString('latin1');
  }
  return { content, ending: marker.ending };
}

describe('the end of a stream', () => {
  it.each(['', 'text\n', 'no newline', 'a1a1a1a1', 'a1a1a1b1\0\xff', '137 2 0 1\n'])(
    'is found after %j, wherever it is cut',
    (content) => {
      for (let size = 1; size < 40; size += 1) {
        const text = `${content}${nonce} 137 2 0 1\n`;
        expect(through(text, size), String(size)).toEqual({ content, ending });
      }
    },
  );

  it('holds nothing back that cannot be its beginning', () => {
    const marker = new EndMarker(nonce);
    expect(marker.push(Buffer.from('begun')).toString()).toBe('begun');
    expect(marker.push(Buffer.from('xa1a1')).toString()).toBe('x');
    expect(marker.push(Buffer.from('z')).toString()).toBe('a1a1z');
    expect(marker.ending).toBeUndefined();
  });

  it.each([`${nonce} x 0 0\n`, `${nonce} 0 0\n`, `${nonce}${' 0'.repeat(40)}`])(
    'is refused as %j',
    (text) => {
      expect(() => through(text, 200)).toThrow('out of step');
    },
  );

  it('is the end: nothing may follow', () => {
    expect(() => through(`${nonce} 0 0 0\nmore`, 200)).toThrow('out of step');
    expect(() => through(`${nonce} 0 0 0\nmore`, 15)).toThrow('out of step');
  });
});
