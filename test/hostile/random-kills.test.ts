import { it } from 'vitest';
import { killAtRandom } from '../support/hostile/random-kills.js';

it('leaves no container after 200 turns at concurrency 8 and ten killed workers', async () => {
  const seed = Number(process.env['SKILLMILL_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
  await killAtRandom({ turns: 200, concurrency: 8, kills: 10, seed, waits: true });
});
