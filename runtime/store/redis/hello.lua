-- store/redis/hello.lua - registers a worker's session, and takes back what its session before held.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active done cancelled dead errors results unique unique_until meta wake sessions sessions_seen damaged bodies blocks spans block_leases block_ends limits limited slots buckets refills waits waits_until follow_ups batches batches_until events
-- uses: base events layout unique paused plan slots parking bodies blocks aside held wake waits batches batch_ends
-- level: works
--
-- ARGV[2]: the worker; ARGV[3]: its session.
-- Bounded: looks at 400 leases a call, those of runs and of blocks, from the last end to the first, and
-- takes back as many runs. ARGV[4] is the end at which to go on, -1 at first, and ARGV[5] how many leases
-- that end then were looked at and stay, those of blocks times 2^32. A place in time, for places in
-- the sets shift while others claim.
-- The session before is told so in its own place, by the first call: a nonce of 21 digits, greater
-- than each.
-- Reply: now, released, the next ARGV[4] and ARGV[5]; the new session counts once ARGV[4] is 0.

local now = clock()
local mark = 'worker:' .. ARGV[2]
local facts = call('HMGET', meta, mark, 'paused', 'layout', 'waits', 'batches', 'events')
local refusal = layout_refusal(facts[3])
if refusal then return refusal end
local before, last, stayed = facts[1], tonumber(ARGV[4]), tonumber(ARGV[5])
local block_stayed = floor(stayed / 4294967296)
stayed = stayed % 4294967296
local released = 0
local PAGE = 400
line_know()
waits_begin(facts[4], now)
batches_begin(facts[5], now)
events_begin(facts[6])

local function take_back(id, text)
  local r = text and record_parse(text)
  if not r or r.state ~= ACTIVE or r.owner ~= before then return false end
  vanish(id, r, 'the process of worker ' .. ARGV[2] .. ' was replaced', now)
  released = released + 1
  return true
end

-- The held runs of a block, from the last on. Whether all of them were looked at, and whether it stays
-- as it is.
local looked = 0
local function block_take_back(name)
  local b = block_load(name)
  if not b or b.owner ~= before then return true, true end
  local met, back = held_vanish(b, PAGE - looked, 'the process of worker ' .. ARGV[2] .. ' was replaced', now)
  looked, released = looked + met, released + back
  return find(b.chars, '[01]') == nil, false
end

local function leases_find(key, skipped)
  return call('ZREVRANGEBYSCORE', key, last < 0 and '+inf' or last, '-inf', 'WITHSCORES', 'LIMIT', skipped, PAGE)
end

-- Goes on at `lease_end`: what stayed at a later one is behind us.
local function move_to(lease_end)
  if lease_end ~= last then last, stayed, block_stayed = lease_end, 0, 0 end
end

-- Blocks of one end by their numbers; in the set they are ordered as texts.
local function is_later(a, b)
  if a.lease_end == b.lease_end then return tonumber(a.name) > tonumber(b.name) end
  return a.lease_end > b.lease_end
end

local function blocks_find()
  local found, list = leases_find(block_leases, block_stayed), {}
  for at = 1, #found, 2 do list[#list + 1] = {name = found[at], lease_end = tonumber(found[at + 1])} end
  table.sort(list, is_later)
  return list
end

-- Those of one end are looked at by one call, or again: their places in the set tell nothing while it
-- lasts.
local function page()
  local found, blocks_found = leases_find(active, stayed), blocks_find()
  local ids, run, block, count_looked = {}, 1, 1, 0
  for at = 1, #found, 2 do ids[#ids + 1] = found[at] end
  local texts = read(runs, ids)
  while true do
    local run_end, its = tonumber(found[2 * run]), blocks_found[block]
    if not run_end and not its then
      if #ids < PAGE and #blocks_found < PAGE then last = 0 end
      break
    end
    if run_end and (not its or run_end >= its.lease_end) then
      if count_looked >= PAGE then break end
      move_to(run_end)
      if not take_back(ids[run], texts[run]) then stayed = stayed + 1 end
      run = run + 1
    else
      if count_looked >= PAGE and its.lease_end ~= last then break end
      move_to(its.lease_end)
      local is_done, stays = block_take_back(its.name)
      if not is_done then
        block_stayed = 0
        break
      end
      if stays then block_stayed = block_stayed + 1 end
      block = block + 1
    end
    count_looked = count_looked + 1
  end
  plan_write()
end

call('ZREM', active, '')
if before and before ~= ARGV[3] then
  call('ZADD', sessions_seen, now, before)
  call('HSET', sessions, before, '999999999999999999999|' .. now .. '|||')
  page()
else
  last = 0
end
if last == 0 then
  call('ZADD', sessions_seen, now, mark)
  call('HSET', meta, mark, ARGV[3], 'served', '1', 'layout', facts[3] or LAYOUT)
end
-- Callbacks of batches come in during a pause too.
if batch_told or (released > 0 or look_soonest) and not is_paused_at(facts[2], now) then wake_one() end
if event_note then events_write(now) end
return {now, released, last, stayed + block_stayed * 4294967296}
