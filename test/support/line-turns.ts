import { z } from 'zod';
import type { Reply, Step } from '../../examples/scripted-model.js';
import type { Client, TurnEvent } from '../../src/producer/index.js';
import { messageSchema } from '../../src/shared/contracts/index.js';
import type { World } from './world.js';

/** A model call that is answered when the test says so. */
export interface HeldStep {
  readonly step: Step;
  /** Ends when the model has been asked. */
  readonly asked: Promise<void>;
  readonly release: () => void;
}

/** Makes one; a call that is made again after the release is answered at once. */
export function held(reply: Reply): HeldStep {
  let ask = () => {};
  let release = () => {};
  const asked = new Promise<void>((resolve) => (ask = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  const step = () => {
    ask();
    return released.then(() => reply);
  };
  return { step, asked, release };
}

/** Replies one after another, whatever the history holds; the last of them from then on. */
export function oneByOne(replies: readonly Reply[]): Step[] {
  const left = [...replies];
  const step = () => (left.length > 1 ? left.shift() : left[0]) ?? {};
  return Array.from({ length: 20 }, () => step);
}

/** What an endpoint says that wants to be left alone for so many seconds. */
export const tooMany = (seconds: number): Reply => ({
  status: 429,
  headers: { 'retry-after': String(seconds) },
});

/** Waits for an event of a turn. */
export async function seen(
  client: Client,
  turnId: string,
  type: TurnEvent['type'],
): Promise<TurnEvent> {
  for await (const event of client.events(turnId)) if (event.type === type) return event;
  throw new Error(`the turn ended without ${type}`);
}

/** All events of a turn that ends. */
export async function eventsOf(client: Client, turnId: string): Promise<TurnEvent[]> {
  const events = [];
  for await (const event of client.events(turnId)) events.push(event);
  return events;
}

/** The messages of a turn's session. */
export async function historyOf(world: World, turnId: string) {
  const [, tag = ''] = turnId.split('_');
  const texts = await world.redis.lrange(`skillmill:{default:${tag}}:messages`, 0, -1);
  return z.array(messageSchema).parse(texts.map((text): unknown => JSON.parse(text)));
}

/** What the user said in a turn's session, in order. */
export async function saidIn(world: World, turnId: string): Promise<unknown[]> {
  const messages = await historyOf(world, turnId);
  return messages.filter(({ role }) => role === 'user').map(({ content }) => content);
}
