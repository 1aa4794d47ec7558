import { startWorkerProcess, type Env, type WorkerProcess } from '../cli.js';

/** A number of workers that is kept: whoever is killed is replaced at once by a new process. */
export interface WorkerCrew {
  /** Kills one of those that are ready; false when none is. */
  killOne(random: () => number): boolean;
  /** When each was killed, by its process id. */
  readonly killed: ReadonlyMap<number, number>;
  /** What those said that ended though nobody had asked them to. */
  readonly crashes: readonly string[];
  /** Ends them all and waits for them. */
  end(): Promise<void>;
}

/** Starts the workers and waits until all are ready. */
export async function startCrew(count: number, env: Env): Promise<WorkerCrew> {
  const ready = new Set<WorkerProcess>();
  const killed = new Map<number, number>();
  const crashes: string[] = [];
  const starting = new Set<Promise<void>>();
  let isEnding = false;

  const begin = async () => {
    const worker = await startWorkerProcess(env);
    ready.add(worker);
    worker.child.once('exit', (code, signal) => {
      ready.delete(worker);
      if (killed.has(pidOf(worker)) || (isEnding && code === 0)) return;
      crashes.push(`a worker ended with ${String(code ?? signal)}: ${worker.log().slice(-1000)}`);
      replace();
    });
  };
  /** A worker may not start while Redis is away: another is tried. */
  const patiently = async () => {
    while (!isEnding) {
      try {
        await begin();
        return;
      } catch (error) {
        if (!String(error).includes('REDIS_UNAVAILABLE')) crashes.push(String(error));
      }
    }
  };
  const track = (start: Promise<void>): Promise<void> => {
    const tracked = start.finally(() => starting.delete(tracked));
    starting.add(tracked);
    return tracked;
  };
  const replace = () => {
    if (!isEnding) void track(patiently());
  };
  const end = async () => {
    isEnding = true;
    await Promise.allSettled(starting);
    await Promise.all([...ready].map((worker) => worker.end()));
  };
  try {
    await Promise.all(Array.from({ length: count }, () => track(begin())));
  } catch (error) {
    await end();
    throw error;
  }
  return {
    killed,
    crashes,
    end,
    killOne(random) {
      const worker = [...ready][Math.floor(random() * ready.size)];
      if (worker === undefined) return false;
      // Before the signal: a span that it leaves open ended no earlier.
      killed.set(pidOf(worker), Date.now());
      ready.delete(worker);
      worker.child.kill('SIGKILL');
      replace();
      return true;
    },
  };
}

function pidOf({ child }: WorkerProcess): number {
  return child.pid ?? 0;
}
