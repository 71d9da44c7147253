-- store/redis/lib_single.lua - what most calls bring: one run, of a producer that has called of late.
--
-- Straight code before everything else, for to make the functions of the other libraries takes longer than
-- all of this. What it does not expect it leaves to them, having changed nothing; what it does is what they
-- do, in the same order (redis/lib_line.lua). Reply: what is remembered of the call (redis/lib_memory.lua):
-- one text, as a table costs as much as two commands. Numbers become texts once, and by '%.0f': where a
-- command is given a number, or a text is joined with one, that takes as long as a command.

local call, sub, made, entry = redis.call, string.sub, ARGV[4], false
if #ARGV == 6 and ARGV[3] ~= '' then entry = call('HGET', producers, ARGV[3]) end
if entry and sub(entry, 1, 19) < sub(made, 1, 19) then
  local salt = string.match(call('HGET', meta, 'layout') or '', OPEN)
  -- How much longer than for a call of now the producer is listed, and how far the ticket's time lies ahead.
  local now, listed = ARGV[1], string.match(entry, '^(%d+)|', 37)
  if now == '-1' then
    local time = call('TIME')
    now = time[1] .. sub('00000' .. time[2], -6, -4)
  end
  local spare, ahead = listed and listed - now - TICKET_HORIZON_MS or -1, ARGV[5] - now
  if salt and salt + 0 < 67108864
    and ahead >= -TICKET_HORIZON_MS and ahead <= TICKET_HORIZON_MS and spare >= 0 and spare >= ahead then
    local number = call('HINCRBY', meta, 'line', '1')
    if number > 1 or call('HLEN', bodies) == 0 then
      number = string.format('%.0f', number)
      -- ORDER CALL_ENTRY
      entry = made .. '|' .. listed .. '|1|' .. number .. '|' .. now .. '|' .. salt .. '||'
      if call('LLEN', wake) == 0 then call('RPUSH', wake, '1') end
      call('HSET', producers, ARGV[3], entry)
      call('HSET', bodies, number, now .. '|' .. ARGV[6])
      return entry
    end
    call('HDEL', meta, 'line') -- it was lost: to be told
  end
end
