-- store/redis/lib_line.lua - new ordinary runs: they come to the end of the line.
--
-- They stand in ARGV from 6 on, an argument each: the body (redis/lib_bodies.lua) without the ms in front.
-- The last number of the line grows before anything else is written, and for good: whatever happens on the
-- way, none is given twice. With the bodies the runs exist. What tells a repeat is written before them
-- and by the same command: a right that was withdrawn stops neither or both, and no run comes twice.

local STRIDE = 500 -- bodies in one command

-- As line_id() of redis/lib_bodies.lua.
local function event_line_id(number)
  return struct.pack('>I2I4I2I2I2I4', math.floor(now / 4294967296), now % 4294967296, 28672 + math.floor(salt / 16384),
    32768 + salt % 16384, 4096 + math.floor(number / 4294967296), number % 4294967296)
end

local count, answers = #ARGV - 5, ''
if facts[4] then
  local wanted, kept = count, call('HMGET', meta, 'ghosts', 'kept')
  count = math.max(math.min(wanted, facts[4] - live_count(kept[1], kept[2])), 0)
  if count < wanted then answers = string.rep('N', count) .. string.rep('F', wanted - count) end
  if count == 0 then return {answers, LANE + 1, now, tonumber(salt)} end
end

-- The numbers would begin anew, and bodies that wait be written over.
if not facts[3] and call('HLEN', bodies) > 0 then
  return redis.error_reply('DAMAGED the queue has runs and does not know how many: FSCK repairs it')
end
local before = call('HINCRBY', meta, 'line', count) - count
layout_write()
if not is_paused and call('LLEN', wake) == 0 then call('RPUSH', wake, '1') end
call_list(answers)
call_remember('1', before + 1, answers, '')
for from = 1, count, STRIDE do
  local puts, last = {}, 0
  for at = from, math.min(from + STRIDE - 1, count) do
    puts[last + 1] = before + at
    puts[last + 2] = now_text .. ARGV[5 + at]
    last = last + 2
  end
  call('HSET', bodies, unpack(puts))
end
if event_note then
  local from, job = 1, nil
  for at = 1, count + 1 do
    local its = at <= count and (string.match(ARGV[5 + at], REST_JOB) or '')
    if at > 1 and its ~= job then
      event_note('N', event_line_id(before + from), '0', job, at - from)
      from = at
    end
    job = its
  end
  events_write(now)
end
return {answers, LANE + before + 1, now, tonumber(salt)}
