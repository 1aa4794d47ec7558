import { expect, it } from 'vitest';
import { resetSessionScript } from '../../src/shared/redis/scripts/reset-session.js';
import { SessionLine, sessionTtl } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();

const reset = ({ keys }: SessionLine) =>
  resetSessionScript.run(
    redis.client,
    [
      ...[keys.session, keys.line, keys.delayed],
      ...[keys.messages, keys.skillState, keys.artifacts, keys.workspace],
    ],
    [sessionTtl],
  );

it('forgets what is kept, but never the fencing token', async () => {
  const line = new SessionLine(redis.client);
  const [first, second] = [line.turn(1), line.turn(2)];
  await line.enqueue(first);
  const old = await line.take(first);
  await line.commit(first, old, {
    ...{ messages: ['{}'], state: { a: 'b' }, artifacts: ['{}'], workspace: '{}' },
  });
  expect(await reset(line)).toBe('reset');
  const { keys } = line;
  const left = await redis.client.exists(
    ...[keys.messages, keys.skillState, keys.artifacts, keys.workspace],
  );
  expect(left).toBe(0);
  expect(await redis.client.hgetall(keys.session)).toEqual({
    ...{ sessionId: 's1', tenant: 'acme', leaseToken: String(old.token), tickets: '1' },
  });
  const expires = await redis.client.ttl(keys.session);
  expect(expires > 0 && expires <= sessionTtl).toBe(true);

  await line.enqueue(second);
  const proof = await line.take(second);
  expect(proof.token).toBe(old.token + 1);
  expect((await line.commit(second, old)).outcome).toBe('lost');
  expect((await line.commit(second, proof)).outcome).toBe('committed');
});

it('is refused while a turn waits or runs, and of a session that nobody knows', async () => {
  const line = new SessionLine(redis.client);
  expect(await reset(line)).toBe('unknown');
  await line.enqueue(line.turn(1));
  expect(await reset(line)).toBe('busy');
  const proof = await line.take(line.turn(1));
  expect(await reset(line)).toBe('busy');
  await line.commit(line.turn(1), proof, { messages: ['{}'] });
  expect(await reset(line)).toBe('reset');
});
