import type { DefaultLimits, ModelConfig, SkillConfig } from '../../shared/config/config.js';
import type { InputConfig } from '../../shared/config/input-config.js';
import type { SessionId, Tenant, TurnId } from '../../shared/contracts/index.js';
import type { Redactor } from '../../shared/logging/redactor.js';
import type { Logger } from '../../shared/logging/logger.js';
import type { TurnQueue } from '../../shared/queue/turn-queue.js';
import type { RedisClient } from '../../shared/redis/redis-client.js';
import type { StoredRequest } from '../../shared/results/stored-request.js';
import type { UsageLedger } from '../../shared/usage/usage-ledger.js';
import type { Executor } from '../executor/executor.js';
import type { Model } from '../model/model.js';
import type { NotedBlobStore } from '../session/noted-blob-store.js';
import type { SkillArchive } from '../skills/skill-archive.js';
import type { TurnSkills } from '../skills/turn-skills.js';
import type { Toolbox } from '../toolbox/toolbox.js';
import type { SkillPacks } from '../workspace/skill-packs.js';
import type { SnapshotLimits } from '../workspace/snapshot/session-files.js';
import type { HandOver } from './hand-over.js';

/** What every turn of a worker shares; made once, in compose.ts. */
export interface TurnDeps {
  readonly workerId: string;
  readonly redis: RedisClient;
  readonly queue: Pick<TurnQueue, 'addHead'>;
  /** The blobs that a turn of a tenant stores and reads. */
  readonly blobsOf: (turn: Pick<ClaimedTurn, 'tenant' | 'turnId'>) => NotedBlobStore;
  readonly executor: Executor;
  readonly packs: SkillPacks;
  readonly archive: SkillArchive;
  readonly snapshotLimits: SnapshotLimits;
  readonly model: Model;
  readonly modelConfig: Pick<ModelConfig, 'models' | 'contextTokens' | 'contextOverflow'>;
  readonly defaultLimits: DefaultLimits;
  readonly skillConfig: SkillConfig;
  readonly inputConfig: InputConfig;
  readonly toolbox: Toolbox;
  readonly ledger: UsageLedger;
  /** Replicas that are to have a turn's end before it is told on. */
  readonly waitReplicas: number;
  /** Claims in a row that may come to nothing; a worker that dies counts as one. */
  readonly maxAttempts: number;
  /** Waits in a row for an endpoint that asks for a pause. */
  readonly maxWaits: number;
  readonly resultTtlSeconds: number;
  readonly sessionTtlSeconds: number;
  /** The skills as they are now, as far as this turn may know of them. */
  readonly openSkills: (turn: ClaimedTurn) => Promise<TurnSkills>;
  /** Blots the operator's secrets out of what a turn tells. */
  readonly redact: Redactor;
  /** When running turns are to be handed over. */
  readonly handOver: Pick<HandOver, 'atNextStep' | 'atOnce'>;
  readonly logger: Logger;
}

/** A claimed turn. */
export interface ClaimedTurn {
  readonly tenant: Tenant;
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  readonly request: StoredRequest;
  readonly attempt: number;
  /** Claims in a row that came to nothing, this one included. */
  readonly fruitless: number;
  /** Attempts in a row that only waited for an endpoint. */
  readonly throttled: number;
  /** The ended turn that this one tries again. */
  readonly retryOf: TurnId | undefined;
  /** Milliseconds since 1970. */
  readonly acceptedAt: number;
  readonly startedAt: number;
  /** Milliseconds since the first attempt began: the turn's time goes on through all of them. */
  readonly elapsedMs: number;
}
