-- store/redis/follow.lua - takes the runs into a queue that come in with the ends of others.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active unique unique_until meta wake keys keys_until producers producers_until bodies limits limited slots buckets refills damaged events
-- uses: base events layout wake limit memory intake producers unique slots enqueue following follow_up
-- rare: slots
-- level: produces
--
-- They were kept by the STEP that recorded those ends, in the `follow_ups` of its queue: that is the last of KEYS, and of
-- another slot, where the server is a cluster. ARGV: as of redis/enqueue.lua up to the ticket, of which there is none; then
-- the name of this queue, and the place in that set at which to begin. What is kept for it is gone when its runs are there.
-- Reply: how many runs there were.

local RUNS_MAX = 1000 -- in a call, but for those of the last entry
local kept, name, from = KEYS[#KEYS], ARGV[6], tonumber(ARGV[7])
local found, brought = {}, {}

follow_ups_walk(kept, from, function(member, queue)
  if queue ~= name or #found >= RUNS_MAX * ENQUEUE_STRIDE then return end
  brought[#brought + 1] = member
  local list = follow_up_arguments(member)
  if not list then call('HSET', damaged, sub(member, 1, 16), member) return end
  for at = 1, #list do found[#found + 1] = list[at] end
end)
ARGV[6], ARGV[7] = nil, nil
for at = 1, #found do ARGV[at + 5] = found[at] end
if #found > 0 then enqueue(6, true) end
write('ZREM', kept, brought)
return #found / ENQUEUE_STRIDE
