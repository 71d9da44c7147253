-- store/redis/cancel.lua - cancels a run, or flags an active one.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active done cancelled dead errors results unique meta wake
-- uses: base layout plan
-- level: works
--
-- ARGV[2]: the run. Reply: the state's letter after the call, '' for an unknown run, '!' and
-- the letter when it was final, '?' when damaged.

local refusal = layout_check()
if refusal then return refusal end
local now, id = clock(), ARGV[2]
local text = call('HGET', runs, id)
if not text then return '' end
local r = record_parse(text)
if not r then return '?' end
if IS_FINAL[r.state] then return '!' .. r.state end
if r.state == ACTIVE then
  r.cancel = 1
  call('HSET', runs, id, record_text(r))
  return r.state
end
-- Needs no memory, so a full server takes what follows.
call('ZREM', scheduled, '')
if r.state == SCHEDULED then
  due_drop(id, r)
elseif string.match(r.tail, TAIL_priority) ~= '0' then
  urgent_drops[#urgent_drops + 1] = id
else
  -- Finding it in the list would take a walk, so it stays there as a ghost that claims skip.
  count('ghosts', 1)
end
finish(id, r, NEXT[r.state .. '_CANCEL'], keep_until(r, now, TAIL_keep_success_ms))
put(record_puts, id, record_text(r))
plan_write()
return r.state
