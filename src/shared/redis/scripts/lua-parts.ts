/** Pieces of Lua that several scripts begin with. */

/** now(): milliseconds by Redis' own clock, so that no two hosts' clocks are compared. */
export const nowLua = `
local function now()
  local t = redis.call('TIME')
  return tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
end
`;

/**
 * append(events, turn, body): adds one turn event with the next seq as its stream id; returns the seq.
 * The stream is capped at about 20,000 entries; what a command prints makes at most some hundred of them.
 */
export const appendEventLua = `
local function append(events, turn, body)
  local seq = redis.call('HINCRBY', turn, 'seq', 1)
  redis.call('XADD', events, 'MAXLEN', '~', 20000, seq .. '-0',
    'body', body, 'at', now(), 'sessionId', redis.call('HGET', turn, 'sessionId'))
  return seq
end
`;

/** holds(session, token, nonce): is this still the lease in force? Token and nonce both, since a fail-over can repeat a token. */
export const holdsLeaseLua = `
local function holds(session, token, nonce)
  local lease = redis.call('HMGET', session, 'leaseToken', 'leaseNonce')
  return lease[1] == token and lease[2] == nonce
end
`;

/** drop(session): takes the lease away, so that whoever held it writes nothing more. */
export const dropLeaseLua = `
local function drop(session)
  redis.call('HDEL', session, 'leaseTurn', 'leaseNonce', 'leaseOwner', 'leaseExpiresAt')
end
`;

/**
 * book(spent, prefix, amounts, sign): adds amounts to a budget's `spent` (prefix ''), or to what it holds for calls in flight ('held:').
 * amountsOf(call): of a call `id:tokens:microUsd:tokens:microUsd` what is held for it, and what counts as spent should it be lost.
 */
export const budgetLua = `
local function book(spent, prefix, amounts, sign)
  redis.call('HINCRBY', spent, prefix .. 'tokens', 0 + sign * amounts.tokens)
  redis.call('HINCRBY', spent, prefix .. 'microUsd', 0 + sign * amounts.microUsd)
end
local function amountsOf(call)
  local tokens, microUsd, lostTokens, lostMicroUsd = string.match(call, ':(%d+):(%d+):(%d+):(%d+)$')
  return { tokens = tonumber(tokens), microUsd = tonumber(microUsd) },
    { tokens = tonumber(lostTokens), microUsd = tonumber(lostMicroUsd) }
end
`;

/**
 * addCounts(key, name, counts): adds to the packed counts of one name. What is packed is compact where there are many names,
 * and may grow at its end.
 */
export const addCountsLua = `
local function addCounts(key, name, counts)
  local sums = {}
  for number in string.gmatch(redis.call('HGET', key, name) or '', '%d+') do
    sums[#sums + 1] = tonumber(number)
  end
  for i, count in ipairs(counts) do sums[i] = string.format('%.0f', (sums[i] or 0) + count) end
  redis.call('HSET', key, name, table.concat(sums, ' '))
end
`;
