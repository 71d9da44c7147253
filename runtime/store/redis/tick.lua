-- store/redis/tick.lua - enqueues the run of a schedule whose time has come.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active unique meta wake keys keys_until producers producers_until bodies
-- uses: base layout wake limit memory intake producers enqueue
-- level: produces
--
-- Enqueues the run from ARGV[9] on when tick ARGV[7] (0: now) of schedule ARGV[6] is due,
-- that is ARGV[8] ms or more after the schedule's mark. Before that as for ENQUEUE, without a ticket. Reply: now, is_enqueued, mark.
-- Kept: the mark and the id of the newest run, 'MARK|ID'.

local field = 'tick:' .. ARGV[6]
local tick = tonumber(ARGV[7])
local interval = tonumber(ARGV[8])
if tick == 0 or tick > now then tick = now end

local kept = call('HGET', meta, field) or ''
local bar = string.find(kept, '|', 1, true)
local mark = bar and tonumber(string.sub(kept, 1, bar - 1))
local newest = mark and string.sub(kept, bar + 1)
if mark and mark > now + interval then
  tick = now -- it was made by a clock that was ahead
elseif mark and tick < mark + interval then
  return {now, 0, mark}
end

local text = newest and call('HGET', runs, newest)
local r = text and record_parse(text)
if r and not IS_FINAL[r.state] then
  call('HSET', meta, field, tick .. '|' .. newest)
  return {now, 0, tick}
end
enqueue(9, true)
if #ids == 0 then return {now, 0, mark or 0} end
call('HSET', meta, field, tick .. '|' .. ids[1])
return {now, 1, tick}
