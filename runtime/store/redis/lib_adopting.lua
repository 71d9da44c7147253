-- store/redis/lib_adopting.lua - ordinary runs that get records of their own, in their place, for what the line and its
-- blocks know nothing of.

local adopt, adoptions_write
do
-- Of sessions: what their last steps have granted, which the same steps would grant again. Of a block they know
-- but its number, so a run that leaves it is added by name.
local memories = {}

local function memory_add(o, owner)
  if memories[owner] == nil then memories[owner] = call('HGET', sessions, owner) end
  local text = memories[owner]
  if text and string.find(text, '|#' .. o.block.first .. ';', 1, true) then
    memories[owner] = text .. o.id .. '1,' .. o.number - o.block.first .. ';'
  end
end

-- In its place in the order, or where it is held.
function adopt(o)
  local r = ordinary_adopt(o)
  if r.state == ACTIVE then memory_add(o, r.owner) end
  if r.state == ACTIVE then plan_put('lease_puts', r.at_ms, o.id) else ready_put(o.id, r, body_ms(o.body)) end
  plan_put('record_puts', o.id, record_text(r))
end

function adoptions_write()
  for owner, text in pairs(memories) do
    if text then call('HSET', sessions, owner, text) end
  end
  plan_write()
end
end
