import fc from 'fast-check';
import { expect, it } from 'vitest';
import { acts, BudgetModel, type Choice } from './budget-model.js';
import { OneBudget } from './one-budget.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();

type Name = keyof typeof acts;
type Command = fc.AsyncCommand<BudgetModel, OneBudget>;

const amounts = fc.record({ tokens: fc.nat(400), microUsd: fc.nat(400) });
const choices: fc.Arbitrary<Choice> = fc.record({
  n: fc.nat(50),
  share: fc.constantFrom(0, 0.1, 0.5, 0.9, 1),
  held: amounts,
  strict: fc.boolean(),
});

const command = (name: Name) =>
  choices.map((choice): Command => ({
    check: () => true,
    async run(model, real) {
      const { replied, expected } = await acts[name](model, real, choice);
      expect(replied, name).toEqual(expected);
      await agree(model, real);
      neverPassedByMoreThanOneCall(model);
    },
    toString: () => `${name}(${JSON.stringify(choice)})`,
  }));

/** Redis holds what the model says. */
async function agree(model: BudgetModel, real: OneBudget): Promise<void> {
  expect(await real.state()).toEqual({
    spent: model.spent,
    held: model.held,
    inFlight: model.of('in_flight', 'overdue').length,
    lost: model.of('lost').length,
  });
}

/** The promise: whatever is in flight or lost, no more is spent than the budget and one call. */
function neverPassedByMoreThanOneCall({ limits, spent, dearest, surplus, calls }: BudgetModel) {
  for (const unit of ['tokens', 'microUsd'] as const) {
    const limit = limits[unit];
    if (limit === undefined) continue;
    const dearestLost = Math.max(0, ...calls.map(({ ifLost }) => ifLost[unit]));
    const oneCall = Math.max(dearest[unit], dearestLost);
    expect(spent[unit], unit).toBeLessThanOrEqual(limit - 1 + oneCall + surplus[unit]);
  }
}

// Calls are made and ended more often, so that budgets come to their end.
const names: Name[] = [
  ...(Object.keys(acts) as Name[]),
  ...(['reserve', 'reserve', 'reserve', 'settle', 'settle', 'settle'] as const),
];

it('a budget does what its model says, and is never passed by more than one call', async () => {
  let runs = 0;
  const steps = fc.commands(names.map(command), { maxCommands: 40, size: 'max' });
  const limits = fc.record(
    { tokens: fc.integer({ min: 1, max: 1500 }), microUsd: fc.integer({ min: 1, max: 1500 }) },
    { requiredKeys: [] },
  );
  const property = fc.asyncProperty(limits, steps, async (given, commands) => {
    runs += 1;
    const setup = {
      model: new BudgetModel(given),
      real: new OneBudget(redis.client, `run-${runs}`),
    };
    await fc.asyncModelRun(() => setup, commands);
  });
  await fc.assert(property, { numRuns: 150 });
});
