import { allChecks } from './checks/all-checks.js';
import { planTurns, type ChaosSize } from './chaos-plan.js';
import { openChaosWorld, type ChaosWorld } from './chaos-world.js';
import type { ChaosFacts } from './facts.js';
import { gatherFacts } from './gather-facts.js';
import { makeTrouble, type Trouble } from './trouble.js';
import { enqueueAll, Progress } from './turns-in.js';

const reportEveryMs = 10_000;
const shownFaults = 8;

/** The seed of a run: CHAOS_SEED repeats one. */
export function chaosSeed(): number {
  return Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
}

/** Runs turns while workers, containers and Redis die. @throws Error that names every check that failed, and how to repeat the run */
export async function runChaos(size: ChaosSize, seed: number): Promise<void> {
  console.log(`chaos with CHAOS_SEED=${seed}: ${JSON.stringify(size)}`);
  const plans = planTurns(size, seed);
  const world = await openChaosWorld(size, plans, seed);
  try {
    const began = performance.now();
    const accepted = await enqueueAll(world, plans);
    console.log(`${accepted.length} turns are in after ${seconds(began)} s`);
    const progress = new Progress(world, accepted);
    const trouble = makeTrouble(world, size, { seed, doneShare: progress.doneShare });
    const tell = () => console.log(stateOf(progress, trouble, began));
    const isOver = await progress
      .follow(size.limitMs, everySoOften(tell))
      .finally(() => trouble.stop());
    tell();
    const facts = await gatherFacts(world, accepted);
    report(world, facts);
    const faults = faultsOf(facts);
    if (!isOver) faults.unshift(`not all turns were done within ${size.limitMs / 1000} s`);
    if (trouble.redis() < size.redisRestarts) faults.unshift('Redis was not restarted as planned');
    if (faults.length > 0)
      throw new Error(`chaos with CHAOS_SEED=${seed} broke what must hold:\n${faults.join('\n')}`);
  } finally {
    await world.close();
  }
}

/** What the checks found: a heading for each that failed, and its first faults. */
export function faultsOf(facts: ChaosFacts): string[] {
  return Object.entries(allChecks).flatMap(([name, check]) => {
    const faults = check(facts);
    if (faults.length === 0) return [];
    const shown = faults.slice(0, shownFaults).map((fault) => `    ${fault}`);
    const more = faults.length > shownFaults ? [`    … ${faults.length - shownFaults} more`] : [];
    return [`  not so: ${name} (${faults.length} faults)`, ...shown, ...more];
  });
}

function report(world: ChaosWorld, facts: ChaosFacts): void {
  const results = [...facts.results.values()];
  const count = (status: string) => results.filter((result) => result.status === status).length;
  const calls = results.flatMap(({ toolCalls }) => toolCalls);
  const commands = calls.filter(({ name }) => name === 'skill_run').length;
  const again = results.filter(({ attempts }) => attempts > 1).length;
  const most = Math.max(0, ...results.map(({ attempts }) => attempts));
  const runs = facts.ledger.filter(({ kind }) => kind === 'start').length;
  console.log(
    [
      `${count('completed')} completed, ${count('cancelled')} cancelled, ${count('failed')} failed`,
      `${again} took more than one attempt, ${most} at most`,
      `${world.model.calls()} model calls, ${calls.length} tool calls, ${commands} of them commands`,
      `the ledger tool ran ${runs} times`,
    ].join('; '),
  );
}

function stateOf(progress: Progress, trouble: Trouble, began: number): string {
  const kills = `${trouble.workers()} workers, ${trouble.containers()} containers and ${trouble.redis()} times Redis killed`;
  const rate = (progress.done / seconds(began)).toFixed(1);
  return `${seconds(began)} s: ${progress.done} turns done (${rate}/s), ${kills}`;
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 100) / 10;
}

function everySoOften(tell: () => void): () => void {
  let last = performance.now();
  return () => {
    if (performance.now() - last < reportEveryMs) return;
    last = performance.now();
    tell();
  };
}
