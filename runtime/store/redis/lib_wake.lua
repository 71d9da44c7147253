-- store/redis/lib_wake.lua - wakes an idle worker.
--
-- A token in the wake list wakes one of them. It is a hint; at most one lies there,
-- and whoever takes it leaves another when work remains.
local function wake_one()
  if call('LLEN', wake) == 0 then call('RPUSH', wake, '1') end
end
