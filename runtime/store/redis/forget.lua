-- store/redis/forget.lua - deletes a run that is over.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active done cancelled dead errors results progress unique unique_until meta bodies blocks spans block_leases block_ends
-- uses: base layout unique plan bodies blocks
-- level: works
--
-- ARGV[2]: the run. Reply: 'O', '' unknown, '!' not final.

local refusal = layout_check()
if refusal then return refusal end
local id = ARGV[2]
local text = call('HGET', runs, id)

local function ordinary_forget()
  local o = ordinary_find(id)
  if not o then return '' end
  if o.head and o.state ~= DONE then return '!' end
  plan_add('body_drops', o.name)
  if o.block then block_leave(o.block, o.place) end
  plan_write()
  return 'O'
end

if not text then return ordinary_forget() end
local r = record_parse(text)
if r and not IS_FINAL[r.state] then return '!' end
call('HDEL', meta, 'calm')
call('HDEL', progress, id)
call('HDEL', runs, id)
call('HDEL', payloads, id)
call('HDEL', errors, id)
call('HDEL', results, id)
call('ZREM', done, id)
call('ZREM', cancelled, id)
call('ZREM', dead, id)
return 'O'
