import { describe, expect, it } from 'vitest';
import { skillsCountedKey, usageKeys } from '../../src/shared/redis/keys.js';
import { countSkillsScript } from '../../src/shared/redis/scripts/count-skills.js';
import { SessionLine, tenant } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();
const { skills } = usageKeys(tenant, '2026-02-28');

function count(turn: number, counts: readonly number[], names: readonly string[]) {
  const counted = skillsCountedKey(tenant, new SessionLine(redis.client).turn(turn));
  const args = [100, 2000, counts.length, ...counts, ...names];
  return countSkillsScript.run(redis.client, [counted, skills], args);
}

describe('count-skills', () => {
  it('counts a turn for each of its skills, once', async () => {
    expect(await count(1, [2, 30, 4], ['pdf', 'odd name: "ü"'])).toBe(1);
    expect(await count(1, [2, 30, 4], ['pdf', 'odd name: "ü"'])).toBe(0);
    expect(await count(2, [1, 10, 0], ['pdf'])).toBe(1);
    expect(await redis.client.hgetall(skills)).toEqual({
      pdf: '3 40 4',
      'odd name: "ü"': '2 30 4',
    });
    expect(await redis.client.ttl(skills)).toBeGreaterThan(1990);
    const marks = await redis.client.keys('*counted*');
    expect(marks).toHaveLength(2);
    for (const mark of marks) expect(await redis.client.ttl(mark)).toBeGreaterThan(90);
  });

  it('works when Redis has forgotten its scripts', async () => {
    await count(1, [1], ['a']);
    await redis.client.script('FLUSH');
    expect(await count(2, [1], ['a'])).toBe(1);
  });
});
