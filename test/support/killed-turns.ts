import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reply, Step, WireRequest } from '../../examples/scripted-model.js';
import {
  createClient,
  type Client,
  type TurnEvent,
  type TurnRequest,
} from '../../src/producer/index.js';
import type { TurnResult } from '../../src/shared/contracts/index.js';
import { projectDir, type Env } from './cli.js';
import { openWorld, type World } from './world.js';

/** A place of its own for one turn. */
export interface TurnPlace {
  /** A file into which toolbox tools write. */
  readonly book: string;
  /** A file that is there once the first worker is dead. */
  readonly gate: string;
  /** A model call that never ends before the first worker is dead, and gives this reply after. */
  readonly hangs: (reply: Reply) => Step;
}

/** A turn in the middle of which its worker is killed. */
export interface Plan {
  readonly steps: (place: TurnPlace) => readonly Step[];
  readonly request?: Partial<TurnRequest>;
  /** What was said in the session's turns before: the user's text, the model's. */
  readonly before?: readonly (readonly [string, string])[];
  /** Waits for the moment to kill, by the turn's events; else a call that hangs is waited for. */
  readonly until?: (event: TurnEvent) => boolean;
}

/** What became of it. */
export interface Outcome {
  readonly result: TurnResult;
  readonly events: readonly TurnEvent[];
  /** Every request that was made for it. */
  readonly requests: readonly WireRequest[];
  /** Lines that toolbox tools wrote: what, and the call's key. */
  readonly lines: readonly (readonly [string, string])[];
}

export interface KilledTurns {
  readonly world: World;
  readonly client: Client;
  /** The skills of both workers; what is changed in it between them is. */
  readonly root: string;
  outcome(name: string): Outcome;
  /** Runs a plan's turn again, in a session of its own, with the skills of the first worker, by the second alone. */
  undisturbed(name: string): Promise<Outcome>;
  close(): Promise<void>;
}

export interface KillOptions {
  readonly env?: Env;
  /** Says what the model does beside the plans' turns. */
  readonly onWorld?: (world: World) => void;
  /** Adds skills before the first worker starts. */
  readonly prepare?: (root: string) => Promise<void>;
  /** Changes them when it is dead. */
  readonly between?: (root: string) => Promise<void>;
}

interface Planned {
  readonly plan: Plan;
  readonly requests: WireRequest[];
  readonly book: string;
  readonly reached: Promise<void>;
}

/** Runs many turns, kills their worker when each has come to its moment, and lets a second worker go on with them. */
export async function killTurns(
  plans: Readonly<Record<string, Plan>>,
  { env = {}, prepare: putSkills, between, onWorld }: KillOptions = {},
): Promise<KilledTurns> {
  const folder = await mkdtemp(join(tmpdir(), 'skillmill-killed-'));
  const root = join(folder, 'skills');
  for (const from of ['examples/skills', 'test/fixtures/ledger-skills']) {
    await cp(join(projectDir, from), root, { recursive: true });
  }
  await putSkills?.(root);
  const world = await openWorld({
    SKILLS_ROOT: root,
    SKILLMILL_CONCURRENCY: '20',
    SKILLMILL_TOOLBOX: join(projectDir, 'test', 'support', 'ledger-toolbox.js'),
    ...env,
  });
  onWorld?.(world);
  const client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
  const gate = join(folder, 'gate');
  const planned = new Map(
    Object.entries(plans).map(([name, plan]) => {
      const book = join(folder, name.replaceAll(' ', '-'));
      return [name, prepare(world, name, { plan, book, gate })] as const;
    }),
  );
  const run = async (name: string, { plan, requests, book }: Planned, sessionId: string) => {
    for (const [n, [text, answer]] of (plan.before ?? []).entries()) {
      const input = `${name} before, ${n}: ${text}`;
      world.script(`${name} before, ${n}: `, [{ text: answer }]);
      await client.result((await client.enqueue({ input, sessionId })).turnId);
    }
    const { turnId } = await client.enqueue({ ...plan.request, input: `${name}.`, sessionId });
    const finish = async (): Promise<Outcome> => {
      const result = await client.result(turnId);
      const events = [];
      for await (const event of client.events(turnId)) events.push(event);
      return { result, events, requests: [...requests], lines: await linesOf(book) };
    };
    return { turnId, finish };
  };

  const first = await world.worker();
  const begun = new Map<string, Awaited<ReturnType<typeof run>>>();
  for (const [name, each] of planned) {
    begun.set(name, await run(name, each, `killed-${name.replaceAll(' ', '-')}`));
  }
  await Promise.all(
    [...planned].map(([name, { plan, reached }]) =>
      plan.until === undefined ? reached : seen(client, begun.get(name)?.turnId ?? '', plan.until),
    ),
  );
  await first.end('SIGKILL');
  await writeFile(gate, '');
  await between?.(root);
  await world.worker();
  const outcomes = new Map<string, Outcome>();
  for (const [name, { finish }] of begun) outcomes.set(name, await finish());
  return {
    world,
    client,
    root,
    outcome: (name) => outcomes.get(name) ?? nothing(name),
    async undisturbed(name) {
      const each = planned.get(name) ?? nothing(name);
      each.requests.splice(0);
      await putSkills?.(root);
      return (await run(name, each, `alone-${name.replaceAll(' ', '-')}`)).finish();
    },
    async close() {
      await client.close();
      await world.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function prepare(
  world: World,
  name: string,
  { plan, book, gate }: { plan: Plan; book: string; gate: string },
): Planned {
  const requests: WireRequest[] = [];
  let reach = () => {};
  const reached = new Promise<void>((resolve) => (reach = resolve));
  let hung = false;
  const hangs =
    (reply: Reply): Step =>
    () => {
      if (hung) return reply;
      hung = true;
      reach();
      return new Promise<Reply>(() => {});
    };
  const steps = plan.steps({ book, gate, hangs }).map((step): Step => (request) => {
    requests.push(request);
    return typeof step === 'function' ? step(request) : step;
  });
  world.script(`${name}.`, steps);
  return { plan, requests, book, reached };
}

async function seen(
  client: Client,
  turnId: string,
  isIt: (event: TurnEvent) => boolean,
): Promise<void> {
  for await (const event of client.events(turnId)) if (isIt(event)) return;
  throw new Error('the turn ended before the moment to kill its worker');
}

async function linesOf(book: string): Promise<(readonly [string, string])[]> {
  const text = await readFile(book, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [what = '', key = ''] = line.split(' ');
      return [what, key] as const;
    });
}

function nothing(name: string): never {
  throw new Error(`no turn ${name}`);
}
