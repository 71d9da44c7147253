-- store/redis/lib_waiting.lua - how many ordinary runs wait.
--
-- They are the bodies that no block holds or keeps.
local function line_waiting(held, kept)
  return math.max(call('HLEN', bodies) - (tonumber(held or nil) or 0) - (tonumber(kept or nil) or 0), 0)
end
