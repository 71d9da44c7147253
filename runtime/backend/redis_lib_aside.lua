-- A record that does not parse is never guessed at. Its bytes go to `damaged` for good; a dead run
-- that is never forgotten and bears no job's name takes its place, where an operator finds it. An id
-- that is none cannot have a run.

local SCORED = {[SCHEDULED] = scheduled, [ACTIVE] = active, [DONE] = done, [DEAD] = dead,
  [CANCELLED] = cancelled}

local function aside_bury(id)
  local r = record_parse(RECORD_ASIDE)
  call('HSET', errors, id, 'the record was damaged: its bytes are kept in ' .. damaged)
  if call('HEXISTS', payloads, id) == 0 then call('HSET', payloads, id, '') end
  call('HSET', runs, id, RECORD_ASIDE)
  call('ZADD', dead, r.at_ms, id)
end

local function aside_put(id, text)
  call('HSET', damaged, id, text)
  call('HINCRBY', meta, 'damaged', 1)
  call('ZREM', scheduled_urgent, id)
  local was_indexed = call('ZREM', urgent, id)
  for _, key in pairs(SCORED) do was_indexed = was_indexed + call('ZREM', key, id) end
  -- So it lies in the ready list, if it lies anywhere.
  if was_indexed == 0 then call('HINCRBY', meta, 'ghosts', 1) end
  if #id == 16 then aside_bury(id) else call('HDEL', runs, id) end
end
