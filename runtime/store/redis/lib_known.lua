-- store/redis/lib_known.lua - whether a queue is there.
--
-- A queue begins with its first run or its first worker. The last test is for one that has lost its
-- `meta`.
local function is_known()
  local begun = call('HMGET', meta, 'number', 'served')
  return begun[1] or begun[2] or call('HLEN', runs) > 0
end
