-- store/redis/lib_batch_ends.lua - ends of runs that may be members of batches, for the scripts that bring them.

-- Where `noted`, what `meta` says of batches, is something.
local function batches_begin(noted, now)
  if not noted then return end
  batch_end = function(id, how) member_end(id, how, now) end
  batches_settle = batches_write
end

local CALL_LEFT_MS = 60000 -- one is kept as long as one of its callbacks is to be brought

local function has_calls_left(id)
  local head = string.sub(id, 1, 15)
  for _, kind in ipairs({'c', 's', 'd'}) do
    local place = tonumber(call('HGET', batches, kind .. id) or nil)
    for _, member in ipairs(place and call('ZRANGEBYSCORE', follow_ups, place, place) or {}) do
      if string.sub(member, 1, 16) == head .. kind then return true end
    end
  end
end

-- Some whose time is over: those that are open are closed, those that have ended are forgotten. Returns when the next one is.
local function batches_forget(now)
  local over = call('ZRANGEBYSCORE', batches_until, '-inf', now, 'LIMIT', 0, FORGET_MAX)
  for _, id in ipairs(over) do
    local b = batch_find(id)
    if b and b.state == 'O' then
      b.state, b.expired = 'C', '1'
      call('ZADD', batches_until, BATCH_NEVER, id)
      call('ZREM', batches_until, 'o' .. id)
      batch_settle(b, now)
    elseif b and b.state == 'E' and has_calls_left(id) then
      call('ZADD', batches_until, now + CALL_LEFT_MS, id)
    elseif not b or b.state == 'E' then
      call('HDEL', batches, id, 'c' .. id, 's' .. id, 'd' .. id)
      call('ZREM', batches_until, id, 'o' .. id)
    else
      call('ZADD', batches_until, BATCH_NEVER, id)
    end
  end
  batches_write()
  local first = call('ZRANGE', batches_until, 0, 0, 'WITHSCORES')
  if not first[1] then call('HDEL', meta, 'batches') end
  return first[2] and tonumber(first[2]) < BATCH_NEVER and tonumber(first[2]) or nil
end
