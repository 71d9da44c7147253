-- store/redis/follow_list.lua - the queues that follow-ups which are kept go to, to be brought there by redis/follow.lua.
-- keys: follow_ups
-- uses: following
-- level: reads
--
-- Reply: their names.

local names, is_known = {}, {}
follow_ups_walk(follow_ups, function(_, queue)
  if queue and not is_known[queue] then
    is_known[queue] = true
    names[#names + 1] = queue
  end
end)
return names
