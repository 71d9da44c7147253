-- store/redis/tick.lua - enqueues the run of a schedule whose time has come.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active unique meta wake seen0 seen1 seen2 seen3 seen4 seen5
-- uses: base seen wake enqueue
-- level: produces
--
-- Enqueues the run from ARGV[5] on when tick ARGV[3] (0: now) of schedule ARGV[2] is due,
-- that is ARGV[4] ms or more after the schedule's mark. Reply: now, is_enqueued, mark.
-- Kept: the mark and the id of the newest run, 'MARK|ID'.

local now = clock()
local field = 'tick:' .. ARGV[2]
local tick = tonumber(ARGV[3])
local interval = tonumber(ARGV[4])
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
local answer = enqueue(5, now, true)
if answer ~= 'N' and answer ~= 'D' then return {now, 0, mark or 0} end
call('HSET', meta, field, tick .. '|' .. ARGV[5])
return {now, answer == 'N' and 1 or 0, tick}
