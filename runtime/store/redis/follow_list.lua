-- store/redis/follow_list.lua - the queues that follow-ups which are kept go to, to be brought there by redis/follow.lua.
-- keys: follow_ups
-- uses: following
-- level: reads
--
-- ARGV[2]: the place at which to begin. Reply: that of those behind, 0 at the end; then their names.

local names, is_known = {0}, {}
names[1] = follow_ups_walk(follow_ups, tonumber(ARGV[2]), function(_, queue)
  if queue and not is_known[queue] then
    is_known[queue] = true
    names[#names + 1] = queue
  end
end)
return names
