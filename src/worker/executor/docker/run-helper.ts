import { errorMessage } from '../../../shared/errors/skillmill-error.js';
import { withDeadline } from '../../async/deadline.js';
import { isSandboxLost, sandboxLost } from '../sandbox-failure.js';
import { untilAbort } from '../../async/until-abort.js';
import type { Channel, ChannelRequest, Exchange } from './channel.js';
import { stopExchange, type SupervisorPlace } from './stop-exchange.js';

const STDERR_LIMIT_BYTES = 8192;
const STDOUT_LIMIT_BYTES = 65_536;

/** What one of our own processes in the sandbox did. */
export interface HelperResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** True when output was cut at its limit; the process was ended then, and its exit code says nothing. */
  readonly cut: boolean;
}

/** A short process of ours. */
export interface Helper extends Omit<ChannelRequest, 'kind'> {
  readonly timeoutMs: number;
  readonly stdoutLimitBytes?: number;
}

/** Where an operation of a sandbox takes place, and what ends it at once. */
export interface OperationPlace extends SupervisorPlace {
  readonly channel: Channel;
  readonly signal: AbortSignal;
}

/** Runs one of our own processes to its end; after an abort, too, the channel is free for the next request.
 *  @throws the signal's reason; what its input fails with; SkillmillError SANDBOX_UNAVAILABLE with `lost` when it cannot run, takes too
 *  long or does not end after an abort */
export async function runHelper(place: OperationPlace, helper: Helper): Promise<HelperResult> {
  place.signal.throwIfAborted();
  const exchange = place.channel.request({ ...helper, kind: 'helper' });
  try {
    const collecting = collect(exchange, helper.stdoutLimitBytes ?? STDOUT_LIMIT_BYTES);
    const inTime = withDeadline(collecting, helper.timeoutMs, 'an operation in it');
    const result = await settled(place, exchange, inTime, collecting);
    if (!result.cut) await exchange.sending;
    if (exchange.inputFailure !== undefined) throw exchange.inputFailure;
    return result;
  } catch (thrown) {
    // What could not be stopped is lost, also where nobody waits for it any more.
    if (!isSandboxLost(thrown)) place.signal.throwIfAborted();
    throw thrown;
  }
}

async function settled(
  place: OperationPlace,
  exchange: Exchange,
  inTime: Promise<HelperResult>,
  collecting: Promise<HelperResult>,
): Promise<HelperResult> {
  const { signal } = place;
  try {
    const result = await untilAbort(inTime, signal);
    if (result.cut) await stopExchange(place, exchange);
    return result;
  } catch (thrown) {
    collecting.catch(() => undefined);
    if (!signal.aborted) {
      throw isSandboxLost(thrown) ? thrown : sandboxLost(errorMessage(thrown), thrown);
    }
    await stopExchange(place, exchange, { ended: collecting });
    throw thrown;
  }
}

async function collect(exchange: Exchange, limitBytes: number): Promise<HelperResult> {
  const stdout: Buffer[] = [];
  let stdoutBytes = 0;
  let stderr = '';
  for await (const { stream, bytes } of exchange.output()) {
    if (stream === 'stderr') {
      if (stderr.length < STDERR_LIMIT_BYTES) stderr += bytes.toString('utf8');
      continue;
    }
    if (stdoutBytes + bytes.length > limitBytes) {
      return { exitCode: 0, stdout: Buffer.concat(stdout), stderr, cut: true };
    }
    stdout.push(bytes);
    stdoutBytes += bytes.length;
  }
  const { exitCode = 0 } = exchange.ending ?? {};
  return { exitCode, stdout: Buffer.concat(stdout), stderr, cut: false };
}
