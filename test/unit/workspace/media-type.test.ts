import { describe, expect, it } from 'vitest';
import { mediaTypeOf } from '../../../src/worker/workspace/media-type.js';

const text = Buffer.from('Grüße\n');
const binary = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]);

describe('mediaTypeOf', () => {
  it.each([
    ['a.csv', text, 'text/csv', true],
    ['b.log', text, 'text/plain', true],
    ['c.png', binary, 'image/png', false],
    ['d', text, 'text/plain', true],
    ['e.json', text, 'application/json', true],
    ['f.bin', binary, 'application/octet-stream', false],
    ['ünï.txt', text, 'text/plain', true],
    ['g.svg', text, 'image/svg+xml', true],
    ['h.tar.gz', binary, 'application/gzip', false],
    ['i.unknown', binary, 'application/octet-stream', false],
    ['j.md', text, 'text/markdown', true],
    ['k.sh', text, 'application/x-sh', true],
    ['l.YAML', text, 'text/yaml', true],
    ['m.geojson', text, 'application/geo+json', true],
    ['n\n.txt', text, 'text/plain', true],
  ])('%s', (name, head, mimeType, isText) => {
    expect(mediaTypeOf(name, head, true)).toEqual({ mimeType, isText });
  });

  it('never calls text what is none, whatever its name says', () => {
    expect(mediaTypeOf('a.txt', binary, true)).toEqual({
      mimeType: 'application/octet-stream',
      isText: false,
    });
    expect(mediaTypeOf('a.txt', Buffer.from('a\0b'), true).isText).toBe(false);
    expect(mediaTypeOf('a.csv', Buffer.from([0xe4, 0x20]), true).isText).toBe(false);
  });

  it('lets a piece end within a character, and a whole file not', () => {
    const cut = Buffer.from('ü').subarray(0, 1);
    expect(mediaTypeOf('a.txt', cut, false).isText).toBe(true);
    expect(mediaTypeOf('a.txt', cut, true).isText).toBe(false);
  });

  it('calls an empty file text, unless its name says otherwise', () => {
    expect(mediaTypeOf('a', Buffer.alloc(0), true).isText).toBe(true);
    expect(mediaTypeOf('a.png', Buffer.alloc(0), true).isText).toBe(false);
  });

  it.each(['main.ts', 'paper.tex', 'job.pl', 'page.php', 'run.bat', 'movie.srt'])(
    'shows readable text of %s',
    (name) => {
      expect(mediaTypeOf(name, text, true).isText).toBe(true);
    },
  );
});
