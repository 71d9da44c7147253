-- store/redis/lib_single.lua - what most calls bring: one run, of a producer that has called of late.
--
-- Straight code before everything else, for to make the functions of the other libraries takes longer than
-- all of this. What it does not expect it leaves to them, having changed nothing; what it does is what they
-- do, in the same order (redis/lib_line.lua). Reply: 'before|now|salt', `before` being the number before
-- that of the run, lane and all: one text, as a table costs as much as two commands.

local LANE_BEFORE = 17592186044415 -- the number before the lowest one of the line's lane (core/run_id.h)

local call, made, entry = redis.call, ARGV[4], false
if #ARGV == 6 and ARGV[3] ~= '' then entry = call('HGET', producers, ARGV[3]) end
if entry and entry < string.sub(made, 1, 15) then
  local facts = call('HMGET', meta, 'layout', 'salt', 'limit', 'paused')
  local now, salt = ARGV[1], facts[2]
  if now == '-1' then
    local time = call('TIME')
    now = time[1] .. string.sub('00000' .. time[2], -6, -4)
  end
  -- How far the ticket's time lies ahead, and how much longer than for a call of now the producer is listed.
  local ahead, listed = ARGV[5] - now, string.match(entry, '^%d+|', 33)
  local spare = listed and string.sub(listed, 1, -2) - now - TICKET_HORIZON_MS or -1
  if facts[1] == LAYOUT and not facts[3] and salt and string.find(salt, '^%d+$') and salt + 0 < 67108864
    and ahead >= -TICKET_HORIZON_MS and ahead <= TICKET_HORIZON_MS and spare >= 0 and spare >= ahead then
    local number = call('HINCRBY', meta, 'line', 1)
    if number > 1 or call('HLEN', bodies) == 0 then
      local reply = LANE_BEFORE + number .. '|' .. now .. '|' .. salt
      if facts[4] ~= '1' and call('LLEN', wake) == 0 then call('RPUSH', wake, '1') end
      call('HSET', producers, ARGV[3], made .. '|' .. listed .. reply .. '||')
      call('HSET', bodies, number, now .. '|' .. ARGV[6])
      -- ORDER ENQUEUE_SINGLE
      return reply
    end
    call('HDEL', meta, 'line') -- it was lost: to be told
  end
end
