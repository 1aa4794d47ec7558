import { within } from '../../async/deadline.js';
import { sandboxLost } from '../sandbox-failure.js';
import type { Exchange } from './channel.js';
import type { DockerEngine } from './docker-engine.js';
import { ASK_SIGNAL, STOP_SIGNAL } from './supervisor-script.js';

/** How long what was killed may take to end before the whole container is removed. */
const STOP_MS = 15_000;
/** A kill may come before the supervisor waits for the process: it is repeated, soon at first. */
const AGAIN_MS = { first: 10, last: 500 };

/** Where a sandbox's supervisor is told to kill. */
export interface SupervisorPlace {
  readonly engine: DockerEngine;
  readonly container: string;
}

/** How a request is to be stopped. */
export interface StopOptions {
  /** Settles when somebody else, who reads its output, has come to the end. Absent: it is read here. */
  readonly ended?: Promise<unknown>;
  /** How long it may take to end by itself after SIGTERM; 0 when absent: it is killed at once. */
  readonly graceMs?: number;
}

/** Ends what a request has started, and reads what its output still holds. All that was started has ended then.
 *  @throws SkillmillError SANDBOX_UNAVAILABLE with `lost` when it does not end */
export async function stopExchange(
  { engine, container }: SupervisorPlace,
  exchange: Exchange,
  { ended = drainExchange(exchange), graceMs = 0 }: StopOptions = {},
): Promise<void> {
  exchange.stopped = true;
  const over = ended.then(
    () => true,
    () => false, // the channel failed: nobody knows what still runs
  );
  if (graceMs > 0) {
    await engine.signalContainer(container, ASK_SIGNAL).catch(() => undefined);
    await within(over, graceMs);
  }
  const deadline = performance.now() + STOP_MS;
  let again = AGAIN_MS.first;
  while (performance.now() < deadline && exchange.ending === undefined) {
    // Each kill is waited for: one that comes late would end the next request.
    const signalled = engine.signalContainer(container, STOP_SIGNAL).catch(() => undefined);
    await within(signalled, deadline - performance.now());
    const outcome = await within(over, Math.min(again, deadline - performance.now()));
    if (outcome !== undefined) break;
    again = Math.min(again * 2, AGAIN_MS.last);
  }
  if (exchange.ending === undefined || exchange.ending.left) {
    throw sandboxLost('what was started in it could not be ended');
  }
}

/** Reads a reply to its end. */
export async function drainExchange(exchange: Exchange): Promise<void> {
  const pieces = exchange.output();
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next());
}
