import { sandboxLost } from '../sandbox-failure.js';
import { RUNNER } from './container-spec.js';
import type { DockerEngine } from './docker-engine.js';
import { runHelper } from './exec-helper.js';

/** The kernel needs a moment to end what was killed; a machine under load got through in below 1 s. */
const REAP_MS = 15_000;

/** Kills everything of the commands' user but this shell (`kill -KILL -1` as that user reaches all of it and nothing of the
 *  keeper's), waits until none is left, and prints how many processes the memory limit has ended so far (cgroup v1 or v2;
 *  the engine's State.OOMKilled stays false when only a child died). Builtins only: a fork bomb leaves no process to spare. */
const script = `
left=1
for ((round = 0; round < 20000 && left; round++)); do
  builtin kill -KILL -1
  left=0
  for process in /proc/[0-9]*; do
    [[ -O $process && $process != "/proc/$$" ]] && left=1
  done
done 2>/dev/null
for file in /sys/fs/cgroup/memory/memory.oom_control /sys/fs/cgroup/memory.events; do
  [[ -r $file ]] || continue
  while read -r key value; do
    [[ $key == oom_kill ]] && echo "$value"
  done < "$file"
done
exit "$left"
`;

/** Ends everything that commands left running; returns how many processes the memory limit has killed since the sandbox was
 *  opened. @throws SkillmillError SANDBOX_UNAVAILABLE with `lost` when it cannot be sure that nothing is left */
export async function reap(engine: DockerEngine, container: string): Promise<number> {
  const result = await runHelper(engine, container, { script, user: RUNNER, timeoutMs: REAP_MS });
  if (result.exitCode !== 0) {
    throw sandboxLost(
      `what a command left running could not be ended (exit code ${result.exitCode})`,
    );
  }
  const kills = Number.parseInt(result.stdout.toString('latin1'), 10);
  return Number.isNaN(kills) ? 0 : kills; // a runtime without cgroup files tells nothing
}
