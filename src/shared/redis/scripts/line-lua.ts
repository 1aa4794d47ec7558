/**
 * A session's line as the scripts see it. A turn's place is its ticket; the score of a line's entry is `ticket * 4 + priority`, so
 * that who reads the head knows its priority (0 high, 1 normal, 2 low) and the order is the tickets' alone. In `delayed` the score is
 * made of the time at which the turn is due.
 */

/** place(session, line, turnId, priority): gives a turn the next ticket, at the end of the line; returns its score. */
export const placeLua = `
local function place(session, line, turnId, priority)
  local score = redis.call('HINCRBY', session, 'tickets', 1) * 4 + priority
  redis.call('ZADD', line, score, turnId)
  return score
end
`;

/** promote(session, line, delayed, t): turns that are due take their places in the line. Needs place. */
export const promoteLua = `
local function promote(session, line, delayed, t)
  local due = redis.call('ZRANGEBYSCORE', delayed, '-inf', t * 4 + 3, 'WITHSCORES')
  for i = 1, #due, 2 do
    place(session, line, due[i], tonumber(due[i + 1]) % 4)
    redis.call('ZREM', delayed, due[i])
  end
end
`;

/** headOf(line): the turn that may run, and its priority; '' and 0 for an empty line. */
export const headLua = `
local function headOf(line)
  local head = redis.call('ZRANGE', line, 0, 0, 'WITHSCORES')
  if head[1] == nil then return '', 0 end
  return head[1], tonumber(head[2]) % 4
end
`;

/**
 * finish(keys, turnId, status, result, ttl): the turn's one result, its last event, its place given up, expiries set. Messages that
 * were to join it become turns of the line again, at the places of their own tickets. Needs append, now, place, promote.
 */
export const finishLua = `
local function finish(keys, turnId, status, result, ttl)
  redis.call('HSET', keys.turn, 'status', status, 'result', result)
  append(keys.events, keys.turn, '{"type":"turn.' .. status .. '","result":' .. result .. '}')
  redis.call('EXPIRE', keys.turn, ttl)
  redis.call('EXPIRE', keys.events, ttl)
  redis.call('ZREM', keys.line, turnId)
  redis.call('ZREM', keys.delayed, turnId)
  redis.call('ZREM', keys.steered, turnId)
  local of = redis.call('HMGET', keys.session, 'begun', 'cancelRequested')
  if of[2] == turnId then redis.call('HDEL', keys.session, 'cancelRequested') end
  if of[1] == turnId then
    redis.call('HDEL', keys.session, 'begun')
    local unread = redis.call('ZRANGE', keys.steered, 0, -1, 'WITHSCORES')
    for i = 1, #unread, 2 do redis.call('ZADD', keys.line, unread[i + 1], unread[i]) end
    redis.call('DEL', keys.steered)
  end
  promote(keys.session, keys.line, keys.delayed, now())
end
`;

/** keepArtifact(artifacts, artifact): each once, also when a turn that tries another again brings what that one has left. */
export const keepArtifactLua = `
local function keepArtifact(artifacts, artifact)
  if not redis.call('LPOS', artifacts, artifact) then redis.call('RPUSH', artifacts, artifact) end
end
`;

/** expireSession(keys, ttl): once a session has no open turn, what is kept of it goes after its time. */
export const expireSessionLua = `
local function expireSession(keys, ttl)
  if redis.call('EXISTS', keys.line, keys.delayed) > 0 then return end
  for _, name in ipairs({ 'session', 'messages', 'skillState', 'artifacts', 'workspace' }) do
    redis.call('EXPIRE', keys[name], ttl)
  end
end
`;
