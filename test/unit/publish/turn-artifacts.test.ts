import { expect, it } from 'vitest';
import type { Artifact } from '../../../src/shared/contracts/index.js';
import { createTurnArtifacts } from '../../../src/worker/publish/turn-artifacts.js';

const blob = (letter: string) => ({ sha256: letter.repeat(64), sizeBytes: 1 });
const artifact = (name: string, version: number, letter: string): Artifact => ({
  ...{ name, version, mimeType: 'text/plain', ref: `artifact://${name}@${version}` },
  ...blob(letter),
});

function open(session: readonly Artifact[] = []) {
  const told: Artifact[] = [];
  const artifacts = createTurnArtifacts(session, (made) => told.push(made));
  const save = (name: string, letter: string) => artifacts.save(name, blob(letter), 'text/plain');
  return { artifacts, told, save };
}

it('counts versions from 0, per name', () => {
  const { save, artifacts, told } = open();
  expect(save('out/a', 'a')).toEqual(artifact('out/a', 0, 'a'));
  expect(save('out/a', 'b').version).toBe(1);
  expect(save('out/b', 'b').version).toBe(0);
  expect(artifacts.saved).toEqual(told);
  expect(told.map((made) => made.ref)).toEqual([
    ...['artifact://out/a@0', 'artifact://out/a@1', 'artifact://out/b@0'],
  ]);
});

it('makes no version of what was saved last, and one of what was saved before that', () => {
  const { save, told } = open();
  const first = save('a', 'a');
  expect(save('a', 'a')).toBe(first);
  expect([save('a', 'b').version, save('a', 'a').version]).toEqual([1, 2]);
  expect(told).toHaveLength(3);
});

it('goes on from the session’s last version, and leaves the session’s list alone', () => {
  const session = [artifact('a', 0, 'a'), artifact('b', 5, 'b'), artifact('a', 1, 'c')];
  const { save, artifacts } = open(session);
  expect(save('a', 'd').version).toBe(2);
  expect(save('b', 'e').version).toBe(6);
  expect(artifacts.saved).toHaveLength(2);
  expect(session).toHaveLength(3);
});

it('names like those of objects are names', () => {
  const { save } = open();
  expect(['__proto__', 'constructor'].map((name) => save(name, 'a').version)).toEqual([0, 0]);
});

it('keeps the version of content that the session has already, and names it among what the turn saved', () => {
  const { save, artifacts } = open([artifact('a', 3, 'a')]);
  expect(save('a', 'a')).toEqual(artifact('a', 3, 'a'));
  expect(artifacts.saved).toEqual([artifact('a', 3, 'a')]);
  expect([save('a', 'a').version, save('a', 'b').version]).toEqual([3, 4]);
  expect(artifacts.saved).toHaveLength(2);
});
