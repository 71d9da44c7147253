-- store/redis/lib_dues.lua - what comes due in a queue, and when: STEP promotes scheduled runs.

-- The first entry's score of a sorted set, nil when it is empty.
local function head(key)
  local entry = call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return entry[2] and tonumber(entry[2])
end

-- The earlier of two instants that may be nil.
local function sooner(a, b)
  return a and b and math.min(a, b) or a or b
end

-- When something of this queue comes due; -1 for never.
local function due_in(first)
  return first and math.max(first - now, 0) or -1
end

local promote
do
-- Runs that are due, by their time; those with a priority do not wait behind the others.
local function dues_find()
  local ids = call('ZRANGEBYSCORE', scheduled, '-inf', now, 'LIMIT', 0, PROMOTE_MAX)
  if #ids < PROMOTE_MAX then return ids end
  local found = {}
  for at = 1, #ids do found[ids[at]] = true end
  for _, id in ipairs(call('ZRANGEBYSCORE', scheduled_urgent, '-inf', now, 'LIMIT', 0, PROMOTE_MAX)) do
    if not found[id] then ids[#ids + 1] = id end
  end
  return ids
end

function promote()
  local ids = dues_find()
  local texts = read(runs, ids)
  for at, id in ipairs(ids) do
    local r = texts[at] and record_parse(texts[at])
    due_drop(id, r)
    if r and r.state == SCHEDULED then
      r.state, r.at_ms = NEXT[SCHEDULED .. '_DUE'], 0
      put(record_puts, id, record_text(r))
      ready_put(id, r, false)
    elseif texts[at] and not r then
      aside_put(id, texts[at])
    end
  end
  plan_write()
end
end
