import type { Command, CommandResult, OutputStream } from '../command.js';
import { graceMs, waitForStop, type StopCause } from '../command-stop.js';
import type { RunHooks } from '../executor.js';
import { OutputCap } from '../output-cap.js';
import { isSandboxLost, sandboxLost } from '../sandbox-failure.js';
import type { Channel, ChannelRequest, Exchange } from './channel.js';
import { SCRATCH, WORKSPACE } from './container-spec.js';
import { RUNNER } from './sandbox-users.js';
import { stopExchange, type StopOptions, type SupervisorPlace } from './stop-exchange.js';

/** Where a command runs. */
export interface CommandPlace extends SupervisorPlace {
  readonly channel: Channel;
}

/** A command's end. */
export interface CommandOutcome {
  readonly result: CommandResult;
  readonly aborted: boolean;
  /** How many processes the memory limit has killed since the container was made; undefined when it was lost: not everything
   *  could be ended, and it has to go. */
  readonly oomKills: number | undefined;
}

/** Runs one command in a container to its end, its timeout or the abort of its signal. @throws what a listener of its output
 *  throws, after its end; SkillmillError SANDBOX_UNAVAILABLE with `lost` when the container failed */
export async function runCommand(
  place: CommandPlace,
  command: Command,
  hooks: RunHooks,
): Promise<CommandOutcome> {
  const startedAt = performance.now();
  const exchange = place.channel.request(requestFor(command));
  const output = new CommandOutput(command, hooks);
  const ended = output.readAll(exchange);
  const ending = waitForStop(ended, command.timeoutMs, hooks.signal);
  const cause = await causeOfEnd(place, exchange, ending);
  const stopping = { ended, graceMs: graceMs[cause] };
  const alive = cause === 'ended' || (await isStopped(place, exchange, stopping));
  const { exitCode = 124, oomKills, left = false, quiet = false } = exchange.ending ?? {};
  if (cause === 'ended' && left)
    throw sandboxLost('what a command left running could not be ended');
  const code = cause === 'ended' ? exitCode : 124;
  const durationMs = performance.now() - startedAt;
  const result = output.result(code, { cause, durationMs, leftNothing: quiet });
  return { result, aborted: cause === 'aborted', oomKills: alive ? oomKills : undefined };
}

function requestFor(command: Command): ChannelRequest {
  const variables = Object.entries({ HOME: SCRATCH, ...command.env });
  const folder = command.cwd === '' ? WORKSPACE : `${WORKSPACE}/${command.cwd}`;
  const stdin = Buffer.from(command.stdin, 'utf8');
  const fed = stdin.length > 0;
  const lines = [
    folder,
    command.makeDir ?? '',
    command.virtualEnvironment === undefined ? '' : `${WORKSPACE}/${command.virtualEnvironment}`,
    fed ? '1' : '0',
    String(variables.length),
    ...variables.map(([name, value]) => `${name}=${value}`),
    command.line,
  ];
  const input = fed ? { input: [stdin] } : {};
  return { kind: 'command', user: RUNNER, script: 'command', lines, ...input };
}

async function causeOfEnd(
  place: CommandPlace,
  exchange: Exchange,
  ending: Promise<StopCause>,
): Promise<StopCause> {
  try {
    return await ending;
  } catch (thrown) {
    // Not the engine's failure but that of a listener: the command must not go on for all that.
    if (!isSandboxLost(thrown)) await stopExchange(place, exchange);
    throw thrown;
  }
}

/** After a timeout or an abort a failure only loses the sandbox: the caller has his answer. */
async function isStopped(
  place: CommandPlace,
  exchange: Exchange,
  options: StopOptions,
): Promise<boolean> {
  try {
    await stopExchange(place, exchange, options);
    return true;
  } catch (thrown) {
    if (!isSandboxLost(thrown)) throw thrown;
    return false;
  }
}

interface HowEnded {
  readonly cause: StopCause;
  readonly durationMs: number;
  readonly leftNothing: boolean;
}

/** The output of one command as it is kept and told. */
class CommandOutput {
  readonly #stdout: OutputCap;
  readonly #stderr: OutputCap;
  readonly #hooks: RunHooks;
  #closed = false;

  constructor(command: Command, hooks: RunHooks) {
    this.#stdout = new OutputCap(command.outputLimitBytes);
    this.#stderr = new OutputCap(command.outputLimitBytes);
    this.#hooks = hooks;
  }

  async readAll(exchange: Exchange): Promise<void> {
    for await (const { stream, bytes } of exchange.output()) {
      if (this.#closed) return;
      const cap = stream === 'stdout' ? this.#stdout : this.#stderr;
      this.#tell(stream, cap.push(bytes));
    }
  }

  result(exitCode: number, { cause, durationMs, leftNothing }: HowEnded): CommandResult {
    this.#closed = true;
    this.#tell('stdout', this.#stdout.end());
    this.#tell('stderr', this.#stderr.end());
    return {
      exitCode,
      timedOut: cause === 'timedOut',
      outOfMemory: false, // the sandbox knows
      stdout: this.#stdout.captured(),
      stderr: this.#stderr.captured(),
      durationMs,
      leftNothing,
    };
  }

  #tell(stream: OutputStream, text: string): void {
    if (text !== '') this.#hooks.onOutput(stream, text);
  }
}
