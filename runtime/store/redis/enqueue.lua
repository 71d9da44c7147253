-- store/redis/enqueue.lua - takes new runs into a queue.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active unique meta wake keys keys_until producers producers_until
-- uses: base layout wake memory producers enqueue
-- level: produces
--
-- ARGV: now, salt, the ticket as in redis/lib_producers.lua, then the runs as in redis/lib_enqueue.lua.
-- Reply: answers ('' when all are new), the number of the first new run, now, the salt; then the ids to
-- which keys led. For a ticket that is refused as in redis/lib_producers.lua.

local refusal = layout_refusal(facts[1])
if refusal then return refusal end
local now = clock()
local answer = call_answer(now)
if answer then return answer end
local answers, first, salt = enqueue(6, now)
return {answers, first, now, salt, unpack(others)}
