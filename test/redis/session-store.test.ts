import { describe, expect, it } from 'vitest';
import { SkillmillError } from '../../src/shared/errors/skillmill-error.js';
import { readSession } from '../../src/shared/session/session-store.js';
import { SessionLine, tenant } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();

const version = {
  ...{ version: 1, manifest: 'b'.repeat(64), blobs: ['c'.repeat(64)] },
  ...{ files: 1, sizeBytes: 2, savedAt: 3 },
};

async function committed(s: SessionLine, messages: readonly object[], artifacts: object[] = []) {
  const turn = s.turn(await redis.client.llen(s.keys.messages));
  await s.enqueue(turn);
  await s.commit(turn, await s.take(turn), {
    messages: messages.map((message) => JSON.stringify(message)),
    artifacts: artifacts.map((artifact) => JSON.stringify(artifact)),
    workspace: JSON.stringify(version),
    state: { 'temp:skill:loaded:a': '1' },
  });
}

describe('readSession', () => {
  it('is empty for a session that has no turn', async () => {
    const s = new SessionLine(redis.client);
    expect(await readSession(redis.client, tenant, s.sessionId)).toEqual({
      messages: [],
      skillState: {},
      artifacts: [],
      workspace: undefined,
    });
  });

  it('gives back what commits left, in order', async () => {
    const s = new SessionLine(redis.client);
    const user = { turnId: s.turn(1), role: 'user', content: 'Grüße\n"x"' };
    const call = { id: 'c1', name: 'skill_run', arguments: '{}' };
    const turnId = s.turn(1);
    const assistant = {
      turnId,
      role: 'assistant',
      content: null,
      toolCalls: [call],
      reasoning: 'r',
    };
    const tool = {
      turnId,
      ...{ role: 'tool', toolCallId: 'c1', name: 'skill_load', content: 'loaded' },
      shows: { skill: 'a', body: true, docs: ['d.md'] },
    };
    const parts = { turnId, role: 'user', content: [{ type: 'text', text: 'again' }] };
    const artifact = {
      ...{ name: 'out/a', version: 0, mimeType: 'text/plain', sizeBytes: 1 },
      ...{ sha256: 'a'.repeat(64), ref: 'artifact://out/a@0' },
    };
    await committed(s, [user, assistant, tool], [artifact]);
    await committed(s, [parts]);
    expect(await readSession(redis.client, tenant, s.sessionId)).toEqual({
      messages: [user, assistant, tool, parts],
      skillState: { 'temp:skill:loaded:a': '1' },
      artifacts: [artifact],
      workspace: version,
    });
  });

  it('says INTERNAL of a record that this version did not write', async () => {
    const s = new SessionLine(redis.client);
    await redis.client.rpush(s.keys.messages, '{"role":"robot"}');
    const error: unknown = await readSession(redis.client, tenant, s.sessionId).catch(
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(SkillmillError);
    expect(error).toMatchObject({ code: 'INTERNAL' });
  });

  it('sees no other session’s and no other tenant’s', async () => {
    const s = new SessionLine(redis.client, 'mine');
    await committed(s, [{ turnId: s.turn(1), role: 'user', content: 'x' }]);
    const other = new SessionLine(redis.client, 'other');
    expect((await readSession(redis.client, tenant, other.sessionId)).messages).toEqual([]);
  });
});
