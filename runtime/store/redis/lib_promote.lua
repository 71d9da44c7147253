-- store/redis/lib_promote.lua - scheduled runs whose time has come: STEP makes them ready.

-- Runs that are due, by their time, and no fewer than may be granted; those with a priority do not wait behind
-- the others.
local function dues_find()
  local most = math.max(PROMOTE_MAX, want)
  local ids = call('ZRANGEBYSCORE', scheduled, '-inf', now, 'LIMIT', 0, most)
  if #ids < most then return ids end
  local found = {}
  for at = 1, #ids do found[ids[at]] = true end
  for _, id in ipairs(call('ZRANGEBYSCORE', scheduled_urgent, '-inf', now, 'LIMIT', 0, most)) do
    if not found[id] then ids[#ids + 1] = id end
  end
  return ids
end

-- Each stands where it came due, however long nobody has looked.
local function promote()
  local ids = dues_find()
  local texts = read(runs, ids)
  for at, id in ipairs(ids) do
    local r = texts[at] and record_parse(texts[at])
    due_drop(id, r)
    if r and r.state == SCHEDULED then
      local due = math.min(tonumber(r.at_ms), now)
      r.state, r.at_ms = NEXT[SCHEDULED .. '_DUE'], due
      ready_put(id, r, due)
      plan_put('record_puts', id, record_text(r))
    elseif texts[at] and not r then
      aside_put(id, texts[at])
    end
  end
  plan_write()
end
