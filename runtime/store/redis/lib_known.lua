-- store/redis/lib_known.lua - whether a queue is there.
--
-- A queue begins with its first run or its first worker. The last tests are for one that has lost its
-- `meta`.
local function is_known()
  local begun = call('HMGET', meta, 'number', 'served', 'line')
  return begun[1] or begun[2] or begun[3] or call('HLEN', runs) > 0 or call('HLEN', bodies) > 0
end
