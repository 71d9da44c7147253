-- store/redis/lib_following.lua - the follow-ups that are kept: an id, the queue that they go to, a line's end and the runs.

local FOLLOW_PAGE, FOLLOW_LOOK_MAX, FOLLOW_BYTES_MAX = 8, 256, 4194304

-- Calls `take` with each of some, from a place on, the oldest first, and its queue. They may be long, so only some are
-- looked at. Returns the place behind them, 0 at the end.
local function follow_ups_walk(kept, from, take)
  local looked, bytes = 0, 0
  while looked < FOLLOW_LOOK_MAX and bytes < FOLLOW_BYTES_MAX do
    local page = redis.call('ZRANGE', kept, from + looked, from + looked + FOLLOW_PAGE - 1)
    for _, member in ipairs(page) do
      bytes = bytes + #member
      take(member, string.match(member, '^([^\n]+)\n', 17))
    end
    if #page < FOLLOW_PAGE then return 0 end
    looked = looked + FOLLOW_PAGE
  end
  return from + looked
end
