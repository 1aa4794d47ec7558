import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process that is being ended is gone within milliseconds; one in an uninterruptible call may take longer, and is given up. */
const GIVE_UP_MS = 5000;
const AGAIN_MS = 10;

/** Kills every process of ours whose environment at its start held this entry (`NAME=value`), until none is left. Only Linux
 *  shows environments; elsewhere it does nothing. A process that was started with an emptied environment is not found:
 *  the local executor isolates nothing. */
export async function killMarked(entry: string): Promise<void> {
  const deadline = performance.now() + GIVE_UP_MS;
  for (;;) {
    const found = await markedProcesses(entry);
    if (found.length === 0 || performance.now() > deadline) return;
    for (const pid of found) killQuietly(pid);
    await sleep(AGAIN_MS);
  }
}

/** Sends KILL to a process, or to a group when the number is negative; one that is gone is no error. */
export function killQuietly(pid: number): void {
  signalQuietly(pid, 'SIGKILL');
}

/** Like `killQuietly`, with any signal. */
export function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone already, or not ours any more
  }
}

async function markedProcesses(entry: string): Promise<number[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const marked = await Promise.all(pids.map(async (pid) => await holds(pid, entry)));
  return pids.filter((pid, index) => pid !== process.pid && marked[index] === true);
}

/** A zombie has no environment any more, so it does not count. */
async function holds(pid: number, entry: string): Promise<boolean> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
    return environment.split('\0').includes(entry);
  } catch {
    return false; // gone, or not ours
  }
}
