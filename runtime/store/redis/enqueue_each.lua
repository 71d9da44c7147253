-- store/redis/enqueue_each.lua - takes new runs into a queue, each as a call of its own.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active unique meta wake keys keys_until producers producers_until
-- uses: base layout wake memory callers enqueue
-- level: produces
--
-- ARGV: now, salt, the tickets as in redis/lib_callers.lua, then the runs as in redis/lib_enqueue.lua.
-- Reply: as of redis/enqueue.lua.

local refusal = layout_refusal(facts[1])
if refusal then return refusal end
local now = clock()
local answer = call_answer(now)
if answer then return answer end
local answers, first, salt = enqueue(6, now)
return {answers, first, now, salt, unpack(others)}
