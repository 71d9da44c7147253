-- store/redis/lib_promote.lua - scheduled runs whose time has come: STEP makes them ready.

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

-- Its place among ordinary runs: behind those that were enqueued until it was due. Numbers of the line follow
-- the time, and each body begins with its own, so a few looks find it.
local PLACE_LOOKS = 64 -- bodies that a step looks at for all that it makes ready
local LOOK_BYTES = 65536 -- of a body, for each of which it counts as one more
local body_times, looks, is_line_known, has_line, is_placed, is_short = {}, 0, false, false, false, false

-- When a number was enqueued; false for one that has left, nil when nothing more may be looked at.
local function line_time(number)
  if body_times[number] == nil and looks < PLACE_LOOKS then
    local body = call('HGET', bodies, number)
    looks = looks + 1 + floor((body and #body or 0) / LOOK_BYTES)
    body_times[number] = body and body_ms(body)
  end
  return body_times[number]
end

-- Whether an ordinary run waits.
local function line_waits()
  if not is_line_known then
    is_line_known = true
    has_line = call('HLEN', bodies) > (tallies.held or counted.held) + (tallies.kept or counted.kept)
  end
  return has_line
end

-- A number between `low` and `high` and its time: the middle, or where that has left one before it, with
-- strides that grow. Where all that are met have left it is the middle, without a time.
local function line_probe(low, high)
  local middle = floor((low + high) / 2)
  local number, ms, back = middle, line_time(middle), 1
  while ms == false and number - low > 1 do
    number = math.max(middle - back, low + 1)
    ms, back = line_time(number), back + math.ceil(back / 2)
  end
  return ms and number or middle, ms
end

-- The last number that was enqueued by `due`; nil when it is not found with the looks that are left, and what
-- it is not before. A clock that stepped back may lead it elsewhere; it ends, for each look narrows it down.
local function place_find(due)
  local low, high = line.taken, counted.last + 1
  if not line_waits() or (line_time(counted.last) or due + 1) <= due then return counted.last end
  while high - low > 1 do
    local number, ms = line_probe(low, high)
    if ms == nil then return nil, low end
    if ms and ms > due then high = number else low = number end
  end
  return low
end

-- The same for one of several, the earliest first. From the first one on that is not found they wait for the
-- next step, nil; but that makes at least one ready.
local function place_next(due)
  if is_short then return nil end
  local place, least = place_find(due)
  is_short = not place and is_placed
  is_placed = true
  return place or not is_short and least or nil
end

local function promote()
  local ids = dues_find()
  local texts = read(runs, ids)
  for at, id in ipairs(ids) do
    local r = texts[at] and record_parse(texts[at])
    local is_due = r and r.state == SCHEDULED
    local place = is_due and (priority_of(r) > 0 or place_next(tonumber(r.at_ms)))
    if not is_due or place then due_drop(id, r) end
    if place then
      r.state, r.at_ms = NEXT[SCHEDULED .. '_DUE'], 0
      plan_put('record_puts', id, record_text(r))
      ready_put(id, r, false, place)
    elseif texts[at] and not r then
      aside_put(id, texts[at])
    end
  end
  plan_write()
end
