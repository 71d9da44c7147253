-- store/redis/lib_memory.lua - what is remembered for a time: producers' calls and idempotency keys.
--
-- Each is a hash and a zset that tells when its fields may go. A time without a field does no harm, a
-- field without one would stay for ever: so times are written first and dropped last. What a field says
-- is over counts as absent even before it is dropped.

-- 'SEQUENCE DIGEST|LISTED|LANE|FIRST|MS|SALT|LETTERS|IDS' without the space, 19 digits and 16 hex digits; from
-- LANE on it is what was answered, FIRST being the number of the first new run. LISTED is its score, later
-- than need be, so that it is written once a minute.
-- ORDER CALL_ENTRY
local CALL_ENTRY = '^(%x+)|(%d+)|([01])|(%d+)|(%d+)|(%d+)|(%u*)|(.*)$'
local LISTED_SLACK_MS = 60000

-- Until then a call that was made at `ms` is known. Its sequence begins with its own time in 15
-- digits. Digits alone have an order as texts that no locale of a server changes.
local function call_until(sequence, ms)
  return math.max(tonumber(ms), tonumber(string.sub(sequence, 1, 15)) or 0) + TICKET_HORIZON_MS
end
-- 'UNTIL|CONTENT|ID'; UNTIL is its score.
local KEY_ENTRY = '^(%d+)|(%x+)|(................)$'

-- Drops up to `most` fields of `hash` whose time in `times` is over; returns how many.
local function memory_forget(hash, times, now, most)
  local old = call('ZRANGEBYSCORE', times, '-inf', '(' .. now, 'LIMIT', 0, most)
  write('HDEL', hash, old)
  write('ZREM', times, old)
  return #old
end
