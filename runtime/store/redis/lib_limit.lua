-- store/redis/lib_limit.lua - how many runs of a queue have not ended, which its limit counts.
--
-- `ghosts` and `kept` as meta has them. What begins with P in `slots` is parked (redis/lib_slots.lua).

local function live_count(ghosts, kept)
  return call('LLEN', ready) - math.max(tonumber(ghosts or 0), 0) + call('ZCARD', urgent) + call('ZCARD', scheduled)
    + call('ZLEXCOUNT', slots, '[P', '(Q') + call('ZCARD', active) + call('HLEN', bodies) - math.max(tonumber(kept or 0), 0)
end
