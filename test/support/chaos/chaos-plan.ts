import { randomNumbers } from '../random-numbers.js';

/** How much runs, and how much goes wrong meanwhile. */
export interface ChaosSize {
  readonly workers: number;
  readonly concurrency: number;
  readonly sessions: number;
  readonly turns: number;
  /** Share of the turns that run commands, in the sessions that do so at all. */
  readonly commands: number;
  /** Kills of workers and containers together, at most. */
  readonly kills: number;
  readonly killEveryMs: readonly [number, number];
  readonly redisRestarts: number;
  /** Share of the turns that somebody cancels. */
  readonly cancelled: number;
  /** All turns have their results by then. */
  readonly limitMs: number;
}

/** `npm run test:chaos`. */
export const fullSize: ChaosSize = {
  workers: 4,
  concurrency: 4,
  sessions: 200,
  turns: 2000,
  commands: 0.3,
  kills: 1000,
  killEveryMs: [2000, 5000],
  redisRestarts: 3,
  cancelled: 0.1,
  limitMs: 300_000,
};

/** The same within `npm test`. */
export const smallSize: ChaosSize = {
  ...fullSize,
  workers: 2,
  sessions: 16,
  turns: 80,
  commands: 0.5,
  kills: 5,
  killEveryMs: [1000, 2500],
  redisRestarts: 1,
  limitMs: 100_000,
};

/** One tool call that a turn is to make: a line in the ledger, or a command that adds a link to the session's chain. */
export interface PlannedCall {
  /** Its number in the turn. */
  readonly n: number;
  readonly tool: 'ledger' | 'link';
}

/** What one turn is to do: each step is a reply of the model with these calls; one without any ends it. */
export interface TurnPlan {
  readonly sessionId: string;
  /** Names the turn; its message as well. */
  readonly text: string;
  readonly steps: readonly (readonly PlannedCall[])[];
  /** At what share of the finished turns somebody cancels it; undefined: nobody does. */
  readonly cancelAt: number | undefined;
}

/** Every so many sessions one runs commands: chains grow from turn to turn, and few turns cost a container, which is dear. */
const chainSessions = 4;
/** Share of the replies that call the ledger beside what they call anyway. */
const besides = 0.15;
const mostCalls = 6;

/** What the turns of a run do, in the order in which they are enqueued. */
export function planTurns(size: ChaosSize, seed: number): TurnPlan[] {
  const random = randomNumbers(seed);
  return Array.from({ length: size.turns }, (_, index) => {
    const session = index % size.sessions;
    const turn = Math.floor(index / size.sessions);
    return {
      sessionId: `chaos-${session}`,
      text: `${session}-${turn}`,
      steps:
        session % chainSessions === 0 && random() < size.commands
          ? commandSteps(random)
          : ledgerSteps(random),
      // Near its own place in the run: some wait then, some run, some are over.
      cancelAt:
        random() < size.cancelled ? (index / size.turns) * (0.6 + random() * 0.4) : undefined,
    };
  });
}

type Tools = PlannedCall['tool'][];

function commandSteps(random: () => number): PlannedCall[][] {
  return numbered(3 + Math.floor(random() * 3), () =>
    random() < besides ? ['link', 'ledger'] : ['link'],
  );
}

function ledgerSteps(random: () => number): PlannedCall[][] {
  return numbered(Math.floor(random() ** 3 * 3), () =>
    random() < besides ? ['ledger', 'ledger'] : ['ledger'],
  );
}

function numbered(steps: number, toolsOf: () => Tools): PlannedCall[][] {
  let n = 0;
  return Array.from({ length: steps }, () =>
    toolsOf().flatMap((tool): PlannedCall[] => (n < mostCalls ? [{ n: (n += 1), tool }] : [])),
  ).filter((calls) => calls.length > 0);
}
