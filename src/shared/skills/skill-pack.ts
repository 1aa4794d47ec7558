import { z } from 'zod';
import type { SkillFile } from './skill.js';

const packIndex = z.array(
  z.object({ path: z.string(), executable: z.boolean(), bytes: z.number() }),
);

/** What a pack says of its files, in their order. */
export type PackIndex = z.infer<typeof packIndex>;

/** The end of a pack: its index, and how long that is. The files' contents stand before it, one after another. */
export function packTail(index: PackIndex): Buffer {
  const tail = Buffer.from(JSON.stringify(index));
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(tail.byteLength));
  return Buffer.concat([tail, size]);
}

/** A skill's files as one pack, piece by piece; the same files give the same bytes. */
export function* packSkill(files: readonly SkillFile[]): Generator<Uint8Array> {
  for (const { content } of files) yield content;
  yield packTail(
    files.map(({ path, executable, content }) => ({ path, executable, bytes: content.byteLength })),
  );
}

/** The files of a pack. @throws Error when it is none */
export function unpackSkill(pack: Buffer): SkillFile[] {
  const tailEnd = pack.byteLength - 8;
  const tailStart = tailEnd - Number(pack.readBigUInt64BE(tailEnd));
  const index = packIndex.parse(JSON.parse(pack.toString('utf8', tailStart, tailEnd)));
  let at = 0;
  return index.map(({ path, executable, bytes }) => {
    const content = pack.subarray(at, at + bytes);
    at += bytes;
    return { path, executable, content };
  });
}
