-- keys: runs payloads ready urgent scheduled scheduled_urgent active unique meta wake seen0 seen1 seen2 seen3 seen4 seen5
-- uses: base seen wake enqueue
--
-- Enqueues the run from ARGV[5] on when tick ARGV[3] (0: now) of schedule ARGV[2] is due,
-- that is ARGV[4] ms or more after the schedule's mark. Reply: now, is_enqueued, mark.

local now = clock()
local field = 'tick:' .. ARGV[2]
local tick = tonumber(ARGV[3])
if tick == 0 then tick = now end
local mark = tonumber(call('HGET', meta, field) or nil)
if mark and tick < mark + tonumber(ARGV[4]) then return {now, 0, mark} end
local answers = enqueue(5, now, true)
call('HSET', meta, field, tick)
return {now, answers == 'N' and 1 or 0, tick}
