-- store/redis/purge.lua - deletes runs of one state.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active done cancelled dead errors results progress logs unique unique_until meta wake bodies blocks spans block_leases block_ends limits limited slots buckets refills waits waits_until follow_ups batches batches_until events
-- uses: base lines events layout known waiting unique plan slots parking bodies blocks wake waits batches batch_ends
-- level: works
--
-- Deletes up to ARGV[3] (at most 500) runs in state ARGV[2], a scheduled one that is due as waiting.
-- Reply: deleted, is_more; empty when nobody has used the queue.

local facts = call('HMGET', meta, 'layout', 'waits', 'batches', 'events')
local refusal = layout_refusal(facts[1])
if refusal then return refusal end
if not is_known() then return {} end
local now, state, limit = clock(), ARGV[2], tonumber(ARGV[3])
local sets = {[SCHEDULED] = scheduled, [DONE] = done, [CANCELLED] = cancelled, [DEAD] = dead}
local low = state == SCHEDULED and '(' .. now or '-inf' -- of its scores
local deleted = 0
waits_begin(facts[2], now)
batches_begin(facts[3], now)
events_begin(facts[4])

local function keys_release(ids, texts)
  for at, id in ipairs(ids) do
    local key = string.match(texts[at] or '', RECORD_UNIQUE)
    if key and key ~= '' and call('HGET', unique, key) == id then call('HDEL', unique, key) end
  end
end

-- Waiting runs with limits leave their places.
local function places_release(ids, texts)
  for at, id in ipairs(ids) do
    local r = texts[at] and record_parse(texts[at])
    if r and r.state == WAITING and r.behind ~= '0' then place_leave(id, r) end
  end
end

local function runs_delete(ids)
  if #ids == 0 then return end
  for at = 1, waits_end and #ids or 0 do waits_end(ids[at], 0) end
  for at = 1, batch_end and #ids or 0 do batch_end(ids[at], 'cancelled') end
  for _, key in ipairs({runs, payloads, errors, results, progress}) do write('HDEL', key, ids) end
  logs_drop(ids)
  deleted = deleted + #ids
end

local function set_purge(key, low, high)
  local ids = call('ZRANGEBYSCORE', key, low, high, 'LIMIT', 0, limit - deleted)
  if #ids == 0 then return end
  local texts = read(runs, ids)
  places_release(ids, texts)
  runs_delete(ids)
  keys_release(ids, texts)
  write('ZREM', key, ids)
  if key == scheduled then write('ZREM', scheduled_urgent, ids) end
end

local function left(key, low, high)
  return #call('ZRANGEBYSCORE', key, low, high, 'LIMIT', 0, 1)
end

-- Ghosts of cancelled runs lie in the list too; they go without being counted.
local function list_purge()
  local entries, ids = call('LRANGE', ready, 0, limit - deleted - 1), {}
  if #entries == 0 then return end
  for at, entry in ipairs(entries) do ids[at] = sub(entry, 1, 16) end
  local texts, waiting = read(runs, ids), {}
  for at, id in ipairs(ids) do
    local r = texts[at] and record_parse(texts[at])
    if r and r.state == WAITING and is_listed(r) and tonumber(r.behind) < 2 then waiting[#waiting + 1] = id end
  end
  places_release(waiting, read(runs, waiting))
  runs_delete(waiting)
  keys_release(ids, texts)
  call('LPOP', ready, #ids)
  if #waiting < #ids then call('HINCRBY', meta, 'ghosts', #waiting - #ids) end
end

-- Those that are parked. Others with limits are gone by now, or stand in the list behind ghosts, where the next call comes
-- to them: deleted here, they would be ghosts there that nobody has counted.
local function limited_purge()
  local entries = call('ZRANGEBYSCORE', limited, '-inf', '+inf', 'WITHSCORES', 'LIMIT', 0, limit - deleted)
  local ids = {}
  for at = 1, #entries, 2 do
    ids[#ids + 1] = entries[at]
    limited_put(entries[at], tonumber(entries[at + 1])) -- place_leave() need not ask for it
  end
  local texts, parked, parked_texts = read(runs, ids), {}, {}
  for at, id in ipairs(ids) do
    local r = texts[at] and record_parse(texts[at])
    if r and r.state == WAITING and tonumber(r.behind) > 1 then
      parked[#parked + 1], parked_texts[#parked + 1] = id, texts[at]
    elseif not r or r.state ~= WAITING then
      limited_put(id, false)
    end
  end
  places_release(parked, parked_texts)
  for _, id in ipairs(parked) do limited_put(id, false) end
  is_limited = is_limited or #ids > 0
  runs_delete(parked)
  keys_release(parked, parked_texts)
end

local function line_left()
  local counted = call('HMGET', meta, 'held', 'kept')
  return line_waiting(counted[1], counted[2])
end

-- From its head on, over as many holes as a claim would pass. A block that lies there comes from a
-- claim that was stopped in its middle, and the next one takes it up.
local function line_purge()
  if line_left() == 0 then return end
  line_know()
  local first, last = line.taken + 1, line_count(call('HGET', meta, 'line'))
  last = math.min(last, line.taken + limit - deleted + 256)
  local ahead = call('ZRANGEBYSCORE', spans, first, last, 'LIMIT', 0, 1)[1]
  if ahead then last = math.min(last, tonumber(ahead) - 1) end
  local names, gone = {}, 0
  while first <= last and deleted < limit do
    for number = first, math.min(first + limit - deleted, last + 1) - 1 do names[#names + 1] = number end
    first, gone = names[#names] + 1, call('HDEL', bodies, unpack(names))
    deleted, names = deleted + gone, {}
  end
  if first > line.taken + 1 then call('HSET', meta, 'taken', first - 1) end
end

-- Runs of blocks that are done, the first that would be forgotten first.
local function ends_purge()
  for _, name in ipairs(call('ZRANGE', block_ends, 0, limit - deleted - 1)) do
    if deleted == limit then break end
    local b = block_load(name)
    if not b then plan_add('block_end_drops', name) end
    for place = 1, b and #b.chars or 0 do
      if deleted == limit then break end
      if find(sub(b.chars, place, place), '%a') then
        plan_add('body_drops', b.first + place - 1)
        block_leave(b, place)
        deleted = deleted + 1
      end
    end
  end
  plan_write()
end

-- How many may be left of that state.
local function rest()
  if state == WAITING then
    return call('LLEN', ready) + call('ZCARD', urgent) + line_left() + left(limited, '-inf', '+inf')
      + left(scheduled, '-inf', now)
  end
  return left(sets[state], low, '+inf') + (state == DONE and left(block_ends, '-inf', '+inf') or 0)
end

call('HDEL', meta, 'calm')
if state == WAITING then
  set_purge(urgent, '-inf', '+inf')
  if deleted < limit then list_purge() end
  if deleted < limit then line_purge() end
  if deleted < limit then limited_purge() end
  if deleted < limit then set_purge(scheduled, '-inf', now) end
  plan_write()
else
  set_purge(sets[state], low, '+inf')
  if state == DONE and deleted < limit then ends_purge() end
end
if batches_settle then batches_settle() end
if event_note and deleted > 0 then
  event_note('E', NO_RUN_ID, deleted)
  events_write(now)
end
if look_soonest or batch_told then wake_one() end
return {deleted, rest()}
