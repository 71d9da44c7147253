-- store/redis/enqueue.lua - takes new runs into a queue; see redis/enqueue_plain.lua.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active unique unique_until meta wake keys keys_until producers producers_until bodies limits limited slots buckets refills events
-- uses: lone base events layout wake limit memory intake producers unique slots enqueue
-- lead: lone
-- rare: slots
-- level: produces
--
-- ARGV: as the libraries say.
-- Reply: of redis/lib_lone.lua what is remembered of the call (redis/lib_memory.lua); else answers ('' when all are new), the number of the first new run, now, the salt; then the ids to
-- which keys led. For a ticket that is refused as in redis/lib_producers.lua.

local answers, first = enqueue(6)
return {answers, first, now, tonumber(salt), unpack(others)}
