import { expect, it } from 'vitest';
import { fullSize, planTurns } from '../../support/chaos/chaos-plan.js';
import { nextReply } from '../../support/chaos/chaos-model.js';

it('plans the same for the same seed, and another run for another', () => {
  expect(planTurns(fullSize, 7)).toEqual(planTurns(fullSize, 7));
  expect(planTurns(fullSize, 7)).not.toEqual(planTurns(fullSize, 8));
});

it.each([1, 2, 3, 4, 5])(
  'has turns of 1 to 6 model calls and up to 6 tool calls, a third of which are commands (seed %i)',
  (seed) => {
    const plans = planTurns(fullSize, seed);
    const calls = plans.map(({ steps }) => steps.flat());
    expect(plans).toHaveLength(2000);
    expect(new Set(plans.map(({ sessionId }) => sessionId)).size).toBe(200);
    expect(new Set(plans.map(({ steps }) => steps.length + 1))).toEqual(
      new Set([1, 2, 3, 4, 5, 6]),
    );
    expect(Math.max(...calls.map((each) => each.length))).toBe(6);
    const links = calls.flat().filter(({ tool }) => tool === 'link');
    expect(links.length / calls.flat().length).toBeGreaterThan(1 / 3);
    const cancelled = plans.filter(({ cancelAt }) => cancelAt !== undefined);
    expect(cancelled.length).toBeGreaterThan(150);
  },
);

it('makes a call again that was answered with a failure, and then goes on', () => {
  const plan = {
    ...{ sessionId: 's', text: '3-2', cancelAt: undefined },
    steps: [[{ n: 1, tool: 'ledger' as const }], [{ n: 2, tool: 'link' as const }]],
  };
  const messages: Parameters<typeof nextReply>[1][number][] = [];
  const told: string[] = [];
  const good = '{"run":"r","callKey":"k","call":1}';
  const link = { turn: '3-2', call: '2', random: 'r', head: 'h', length: 1 };
  const bad = '{"error":{"code":"SANDBOX_UNAVAILABLE"}}';
  for (const content of [
    bad,
    good,
    bad,
    JSON.stringify({ stdout: JSON.stringify(link), exit_code: 0 }),
  ]) {
    const reply = nextReply(plan, messages, () => 0.5);
    const [call] = reply.calls ?? [];
    told.push(call?.id ?? '');
    const fn = { name: call?.name ?? '', arguments: '' };
    messages.push({
      role: 'assistant',
      content: '',
      tool_calls: [{ id: call?.id ?? '', function: fn }],
    });
    messages.push({ role: 'tool', content, tool_call_id: call?.id ?? '' });
  }
  expect(told).toEqual(['3-2_1_0', '3-2_1_1', '3-2_2_0', '3-2_2_1']);
  expect(nextReply(plan, messages, () => 0.5)).toEqual({ text: 'done 3-2' });
});
