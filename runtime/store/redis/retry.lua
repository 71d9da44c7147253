-- store/redis/retry.lua - revives a dead run.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active done cancelled dead errors results unique unique_until meta wake bodies blocks spans block_leases block_ends limits limited slots buckets refills events
-- uses: base events layout unique paused plan slots parking bodies blocks wake
-- level: works
--
-- ARGV[2]: the run, which gets fresh counters. Reply: 'O', '' unknown, 'U' when another
-- live run took its unique key, '!' when it is not dead, '?' when damaged.

local facts = call('HMGET', meta, 'layout', 'events')
local refusal = layout_refusal(facts[1])
if refusal then return refusal end
events_begin(facts[2])
local now, id = clock(), ARGV[2]
local text = call('HGET', runs, id)
if not text then
  local o = ordinary_find(id)
  return o and (o.head and '!' or '?') or ''
end
local r = record_parse(text)
if not r then return '?' end
local to = NEXT[r.state .. '_RETRY']
if not to then return '!' end
local key, states, until_text = string.match(r.tail, TAIL_UNIQUE)
local takes_key = key ~= '' and unique_keeps({state = WAITING}, states, now) and is_within(until_text, now)
if takes_key and unique_holder(key, now) then return 'U' end
-- The record as it is: nothing has changed yet if this is refused.
call('HSET', runs, id, text)
r.state, r.at_ms, r.owner, r.cancel = to, 0, '', 0
r.started = 0
r.failures, r.crashes, r.crash_streak, r.losses = 0, 0, 0, 0
-- Its old date would kill it at once; somebody wants it to run now.
r.expires_at_ms = 0
ready_put(id, r, now)
plan_write()
-- A live run that stood among the dead would be deleted with them: it leaves before it lives.
call('ZREM', dead, id)
call('HSET', runs, id, record_text(r))
if takes_key then
  unique_set(key, id)
  plan_write()
end
if event_note then
  event_note('Y', id, r.attempt)
  events_write(now)
end
if not is_paused_at(call('HGET', meta, 'paused'), now) then wake_one() end
return 'O'
