-- store/redis/enqueue.lua - takes new runs into a queue.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active unique meta wake seen0 seen1 seen2 seen3 seen4 seen5
-- uses: base seen wake enqueue
-- level: produces
--
-- ARGV: now, then the runs as in redis/lib_enqueue.lua. Reply: answers, holder...

local answers, holders = enqueue(2, clock())
return {answers, unpack(holders)}
