-- store/redis/enqueue_batch.lua - takes new runs into a queue that are members of a batch; see redis/enqueue.lua.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active unique unique_until meta wake keys keys_until producers producers_until bodies limits limited slots buckets refills follow_ups batches batches_until events
-- uses: base events layout wake limit memory intake producers unique slots enqueue batches
-- rare: slots
-- level: produces
--
-- ARGV: as the libraries say; the batch stands before the runs.
-- Reply: as of redis/enqueue.lua; '-' alone where there is no such batch, '.' where it has ended.

local b = batch_find(ARGV[6])

-- Then it is no matter what has become of the batch.
local function is_known_all()
  for at = 7, #ARGV, ENQUEUE_STRIDE do
    if not key_find(string.match(ARGV[at + 3], '^%d+|%x+|(.*)$') or '') then return false end
  end
  return true
end
if (not b or b.state == 'E') and not is_known_all() then return {b and '.' or '-'} end
-- They are counted before they are there, so that the batch ends behind the last of them.
members_write = function(ids)
  local puts = {}
  for at = 1, #ids do puts[at * 2 - 1], puts[at * 2] = 'm' .. ids[at], b.id end
  b.added = b.added + #ids
  batch_save(b)
  batches_write()
  write('HSET', batches, puts)
end
local answers, first = enqueue(7)
return {answers, first, now, tonumber(salt), unpack(others)}
