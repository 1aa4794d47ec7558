import {
  turnIdSchema,
  type Message,
  type TurnEventBody,
  type TurnId,
} from '../../shared/contracts/index.js';
import type { JournalEntry } from '../../shared/contracts/journal.js';
import { turnKeys } from '../../shared/redis/keys.js';
import { redisError } from '../../shared/redis/redis-client.js';
import { takeSteeredScript } from '../../shared/redis/scripts/take-steered.js';
import { readTurn, type StoredTurn } from '../../shared/results/turn-store.js';
import { mergedResult } from '../../shared/results/unstarted-result.js';
import type { Lease } from '../session/lease.js';
import type { ClaimedTurn, TurnDeps } from './turn-deps.js';

/** So many messages join at a time; the rest join before the next model call. */
const atATime = 100;

/** Takes the messages that wait to join a running turn: they are journalled, and the turns that brought them are over.
 *  @throws SkillmillError LEASE_LOST, REDIS_UNAVAILABLE */
export async function takeJoiningMessages(
  deps: Pick<TurnDeps, 'redis' | 'resultTtlSeconds'>,
  lease: Lease,
  turn: Pick<ClaimedTurn, 'tenant' | 'turnId'>,
): Promise<readonly Message[]> {
  const { keys, token, nonce } = lease.proof;
  const waiting = await deps.redis.zrange(keys.steered, 0, atATime - 1).catch((error: unknown) => {
    throw redisError(error);
  });
  if (waiting.length === 0) return [];
  const ids = waiting.map((id) => turnIdSchema.parse(id));
  const joining = await Promise.all(
    ids.map(async (id) => ({ id, stored: await readTurn(deps.redis, turn.tenant, id) })),
  );
  const taken = await takeSteeredScript.run(
    deps.redis,
    [
      ...[keys.session, keys.turn, keys.events, keys.journal, keys.steered],
      ...ids.flatMap((id) => {
        const own = turnKeys(turn.tenant, id);
        return [own.turn, own.events];
      }),
    ],
    [
      ...[token, nonce, deps.resultTtlSeconds],
      ...joining.flatMap(({ id, stored }) => textsOf(id, stored, turn.turnId)),
    ],
  );
  if (taken[0] === 'lost') throw lease.lost();
  return joining
    .filter(({ id }) => taken.includes(id))
    .map(({ stored }) => ({
      turnId: turn.turnId,
      role: 'user',
      content: stored.request.input,
    }));
}

/** Id, journal entry, event and result of a message that joins. */
function textsOf(id: TurnId, stored: StoredTurn, into: TurnId): string[] {
  const { input, metadata = {} } = stored.request;
  const entry: JournalEntry = { kind: 'message', turnId: id, content: input };
  const event: TurnEventBody = { type: 'message.joined', from: id, text: shownText(input) };
  const result = mergedResult({ ...stored, turnId: id, metadata }, into);
  return [id, ...[entry, event, result].map((part) => JSON.stringify(part))];
}

function shownText(input: StoredTurn['request']['input']): string {
  if (typeof input === 'string') return input;
  return input.map((part) => (part.type === 'text' ? part.text : '(an image)')).join(' ');
}
