import type { Session } from '../../shared/contracts/index.js';
import { settleInputsScript } from '../../shared/redis/scripts/settle-inputs.js';
import { isStored, type StoredFile } from '../../shared/results/stored-request.js';
import type { Lease } from '../session/lease.js';
import { resolveInputs } from '../workspace/resolve-inputs.js';
import type { ClaimedTurn, TurnDeps } from './turn-deps.js';

export interface TurnInputOptions {
  readonly lease: Lease;
  readonly session: Session;
  readonly signal: AbortSignal;
}

/** The turn's files with their bytes in reach. What had to be fetched is fetched once, whatever attempts follow. @throws SkillmillError
 *  DOWNLOAD_FAILED, LIMIT_EXCEEDED, INPUT_INVALID, BLOB_UNAVAILABLE, REDIS_UNAVAILABLE, LEASE_LOST; the signal's reason */
export async function turnInputs(
  deps: TurnDeps,
  turn: ClaimedTurn,
  { lease, session, signal }: TurnInputOptions,
): Promise<readonly StoredFile[]> {
  const { files } = turn.request;
  if (files.every(isStored)) return files;
  const ports = {
    blobs: deps.blobsOf(turn),
    artifacts: session.artifacts,
    config: deps.inputConfig,
    maxTotalBytes: deps.snapshotLimits.bytes,
  };
  const resolved = await resolveInputs(files, ports, signal);
  const { keys, token, nonce } = lease.proof;
  const request = JSON.stringify({ ...turn.request, files: resolved });
  const outcome = await settleInputsScript.run(
    deps.redis,
    [keys.session, keys.turn],
    [token, nonce, request],
  );
  if (outcome === 'lost') throw lease.lost();
  return resolved;
}
