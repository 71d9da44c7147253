-- store/redis/enqueue_bound.lua - takes new runs into a queue, all of them or none; see redis/enqueue_plain.lua.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active unique unique_until meta wake keys keys_until producers producers_until bodies limits limited slots buckets refills events
-- uses: base events layout wake limit memory intake producers unique slots enqueue
-- rare: slots
-- level: produces
--
-- ARGV: as the libraries say.
-- Reply: as of redis/enqueue.lua.

local answers, first = enqueue(6, false, true)
return {answers, first, now, tonumber(salt), unpack(others)}
