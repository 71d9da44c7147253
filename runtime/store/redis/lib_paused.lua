-- store/redis/lib_paused.lua - whether a queue is paused at the instant `now`.
--
-- `paused` as meta has it: '1' until it is resumed, else the instant at which the pause is over.

local function is_paused_at(paused, now)
  return paused == '1' or (tonumber(paused or nil) or 0) > now
end
