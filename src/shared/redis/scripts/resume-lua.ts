import { sessionTurnKeyCount as count } from './session-turn-keys.js';

/**
 * resume(keys, turnId, endedId): hands what an ended turn has done to the one that tries it again, if nothing of its session has come
 * after it and nothing comes before: the history forgets how the ended one ended, and the new one begins with its journal and its
 * blobs. Otherwise the new turn begins anew, and both stay in the history. The ended turn's keys (turn, journal, blobs) follow the
 * new one's, and those of its budget.
 */
export const resumeLua = `
local function resume(keys, turnId, endedId)
  local ended, journal, blobs = KEYS[${count + 3}], KEYS[${count + 4}], KEYS[${count + 5}]
  local session = redis.call('HMGET', keys.session, 'lastTurn', 'begun')
  if session[1] ~= endedId or session[2] or redis.call('ZRANGE', keys.line, 0, 0)[1] ~= turnId then return end
  local left = tonumber(redis.call('HGET', ended, 'left') or 0)
  if left > 0 then redis.call('LTRIM', keys.messages, 0, -left - 1) end
  redis.call('HSET', ended, 'left', 0)
  for from, to in pairs({ [journal] = keys.journal, [blobs] = keys.blobs }) do
    redis.call('COPY', from, to)
    redis.call('PERSIST', to)
  end
end
`;
