-- store/redis/lib_aside.lua - puts damaged records aside.
--
-- A record that does not parse is never guessed at. Its bytes go to `damaged` for good; a dead run
-- that is never forgotten and bears no job's name takes its place, where an operator finds it. What
-- is not an id, of 16 bytes, cannot have a run. A body that cannot be read goes the same way.

local SCORED = {[SCHEDULED] = scheduled, [ACTIVE] = active, [DONE] = done, [DEAD] = dead,
  [CANCELLED] = cancelled}

local aside_put, body_aside
do
-- True when it has been among the dead already. It is never deleted by age there, so it is written in
-- the ORDER of live runs: should a right be missing on the way, whoever meets it next starts over.
local function aside_bury(id)
  local r = record_parse(RECORD_ASIDE)
  if waits_end then waits_end(id, 0) end
  if batch_end then batch_end(id, 'dead') end
  if call('HEXISTS', payloads, id) == 0 then call('HSET', payloads, id, '') end
  call('HSET', errors, id, 'the record was damaged: its bytes are kept in ' .. damaged)
  local was_dead = call('ZADD', dead, r.at_ms, id) == 0
  call('HSET', runs, id, RECORD_ASIDE)
  return was_dead
end

local function aside_forget(id)
  call('HDEL', runs, id)
  return call('ZREM', dead, id) == 1
end

-- Takes its entries out of all indexes but the dead and the ready list; returns how many.
local function aside_drop(id)
  call('ZREM', scheduled_urgent, id)
  local dropped = call('ZREM', urgent, id)
  for state, key in pairs(SCORED) do
    if state ~= DEAD then dropped = dropped + call('ZREM', key, id) end
  end
  return dropped
end

function aside_put(id, text)
  call('HSET', damaged, id, text)
  local was_dead
  if #id == 16 then was_dead = aside_bury(id) else was_dead = aside_forget(id) end
  -- What no index had lies in the ready list, if it lies anywhere.
  if aside_drop(id) == 0 and not was_dead then call('HINCRBY', meta, 'ghosts', 1) end
  call('HINCRBY', meta, 'damaged', 1)
end

-- An ordinary run (redis/lib_blocks.lua) whose body cannot be read: plans that it leaves its place.
function body_aside(o)
  call('HSET', damaged, o.id, o.body)
  aside_bury(o.id)
  plan_add('body_drops', o.name)
  if o.block then block_leave(o.block, o.place) end
  call('HINCRBY', meta, 'damaged', 1)
end
end
