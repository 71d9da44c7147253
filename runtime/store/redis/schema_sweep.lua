-- store/redis/schema_sweep.lua - begins to look for runs that need schemas which nobody tells any more.
-- keys: runs meta bodies schemas schemas_told
-- uses: base layout known schemas arrivals
-- level: works
--
-- Reply: now and the arrivals, then of each schema its field, when it was told, and how long its text is; empty when
-- nobody has used the queue.

local refusal = layout_check()
if refusal then return refusal end
if not is_known() then return {} end
local now = clock()
local reply = {now, arrivals()}
for _, field in ipairs(call('ZRANGEBYSCORE', schemas_told, '-inf', now - SCHEMA_STALE_MS)) do
  local e, count = schema_parse(field, call('HGET', schemas, field)), #reply
  local is_due = e and (e.looked <= now - SCHEMA_LOOK_GAP_MS or e.looked > now)
  if is_due and count < SCHEMA_LOOK_MAX * 3 + 2 then
    call('HSET', schemas, field, e.told .. '|' .. now .. '|' .. e.len)
    reply[count + 1], reply[count + 2], reply[count + 3] = field, e.told, e.len
  end
end
return reply
