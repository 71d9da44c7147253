-- store/redis/forget.lua - deletes a run that is over.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active done cancelled dead errors results progress logs unique unique_until meta bodies blocks spans block_leases block_ends events
-- uses: base lines events layout unique plan bodies blocks
-- level: works
--
-- ARGV[2]: the run. Reply: 'O', '' unknown, '!' not final.

local facts = call('HMGET', meta, 'layout', 'events')
local refusal = layout_refusal(facts[1])
if refusal then return refusal end
events_begin(facts[2])
local id = ARGV[2]
local text = call('HGET', runs, id)

local function event_tell(attempt)
  if not event_note then return end
  event_note('G', id, attempt)
  events_write(clock())
end

local function ordinary_forget()
  local o = ordinary_find(id)
  if not o then return '' end
  if o.head and o.state ~= DONE then return '!' end
  plan_add('body_drops', o.name)
  if o.block then block_leave(o.block, o.place) end
  plan_write()
  event_tell(o.state == DONE and '1' or '0')
  return 'O'
end

if not text then return ordinary_forget() end
local r = record_parse(text)
if r and not IS_FINAL[r.state] then return '!' end
call('HDEL', meta, 'calm')
call('HDEL', progress, id)
logs_drop({id})
call('HDEL', runs, id)
call('HDEL', payloads, id)
call('HDEL', errors, id)
call('HDEL', results, id)
call('ZREM', done, id)
call('ZREM', cancelled, id)
call('ZREM', dead, id)
event_tell(r and r.attempt or '0')
return 'O'
