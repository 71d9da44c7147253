-- store/redis/cancel.lua - cancels a run, or flags an active one.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active done cancelled dead errors results unique unique_until meta wake bodies blocks spans block_leases block_ends limits limited slots buckets refills waits waits_until follow_ups batches batches_until events
-- uses: base events layout unique plan slots parking bodies blocks wake waits batches batch_ends
-- level: works
--
-- ARGV[2]: the run. Reply: the state's letter after the call, '' for an unknown run, '!' and
-- the letter when it was final, '?' when damaged.

local facts = call('HMGET', meta, 'layout', 'waits', 'batches', 'events')
local refusal = layout_refusal(facts[1])
if refusal then return refusal end
local now, id = clock(), ARGV[2]
waits_begin(facts[2], now)
batches_begin(facts[3], now)
events_begin(facts[4])
local text = call('HGET', runs, id)
local o = not text and ordinary_find(id)
if not text and not o then return '' end
if o and not o.head then return '?' end
local r = o and ordinary_adopt(o) or record_parse(text)
if not r then return '?' end
-- What an adoption has planned is not carried out then.
if IS_FINAL[r.state] then return '!' .. r.state end
if r.state == ACTIVE then
  r.cancel = 1
  if o then plan_put('lease_puts', r.at_ms, id) end
  plan_put('record_puts', id, record_text(r))
  plan_write()
  return r.state
end
-- Needs no memory, so a full server takes what follows.
call('ZREM', scheduled, '')
if not o then index_leave(id, r) end
r.timeout_from_ms = 0
finish(id, r, NEXT[r.state .. '_CANCEL'], keep_until(r, now, TAIL_keep_success_ms))
plan_put('record_puts', id, record_text(r))
plan_write()
if event_note then events_write(now) end
-- The next of a limit may come in.
if look_soonest or batch_told then wake_one() end
return r.state
