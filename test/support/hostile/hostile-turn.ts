import { lookAtHost, processesIn, type HostLook } from './host-look.js';
import type { HostileCase, HostileStep } from './hostile-case.js';
import { runs, type World } from '../world.js';

/** More cases in one turn would be more model calls than a turn may make. */
const callsAtMost = 24;

/** Cases that share a job: one whose traces would show in another's result has one of its own. */
export interface HostileTurn {
  readonly id: string;
  readonly cases: readonly HostileCase[];
}

/** What the command behind each attack prints after the files of before. */
export const rightBytes = '🚀 right bytes\n';

/** Finds the files of before, prints known bytes, names every process of the commands' user but itself, and clears up. */
const check = (id: string) => `: ${id}
cat "$WORK_DIR/kept" "$OUTPUT_DIR/kept" 2>/dev/null
printf '\\360\\237\\232\\200 right bytes\\n'
for p in /proc/[0-9]*; do [[ ! -O $p || $p == "/proc/$$" ]] || echo "left: $(tr '\\0' ' ' < $p/cmdline)"; done
cd "$WORKSPACE_DIR" && find out work -mindepth 1 ! -name kept -delete 2>/dev/null; true`;

/** What the host showed after a turn's attacks, before its end. */
export interface SeenHost extends HostLook {
  /** Processes of its containers, so that an empty list at the end means something. */
  readonly processes: number;
}

/** Puts the cases into turns, in order. */
export function planTurns(cases: readonly HostileCase[]): HostileTurn[] {
  const alone = cases.filter(isAlone).map((one) => ({ id: one.id, cases: [one] }));
  const turns: { id: string; cases: HostileCase[] }[] = [];
  let calls = Infinity;
  for (const one of cases.filter((each) => !isAlone(each))) {
    const more = one.steps.length + 1;
    if (calls + more > callsAtMost) {
      turns.push({ id: one.id, cases: [] });
      calls = 1;
    }
    turns.at(-1)?.cases.push(one);
    calls += more;
  }
  return [...alone, ...turns];
}

/** A warning about a file comes again with each command, for as long as the file is there. */
function isAlone({ group, steps, alone, mayReplace, takesFiles }: HostileCase): boolean {
  if (alone === true || mayReplace === true || takesFiles === true) return true;
  return group === 'files' && steps.some(({ expected }) => expected.warnings !== undefined);
}

/** The session that a turn's cases run in. */
export const sessionOf = ({ id }: HostileTurn): string => `hostile-${id}`;

/** Scripts a turn: files, then each attack and its check, a look from the host, the end. */
export function scriptTurn(world: World, turn: HostileTurn, seen: Map<string, SeenHost>): void {
  const { id, cases } = turn;
  const write = `echo 'work ${id}' > "$WORK_DIR/kept"; echo 'out ${id}' > "$OUTPUT_DIR/kept"`;
  const look = async () => {
    const deployment = (await world.redis.get('skillmill:deployment')) ?? 'none';
    const found = await lookAtHost(deployment, sessionOf(turn));
    seen.set(id, { ...found, processes: (await processesIn(found.containers)).length });
    return { text: `survived ${id}` };
  };
  world.script(messageOf(turn), [
    runs(write),
    ...cases.flatMap((one) => [
      ...one.steps.map(({ call: { command, ...more } }: HostileStep) => runs(command, more)),
      runs(check(one.id)),
    ]),
    look,
  ]);
}

/** The message of a turn; no other's begins with it. */
export const messageOf = ({ id }: HostileTurn): string => `attack ${id}.`;
