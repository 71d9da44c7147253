-- Enqueues the runs that stand in ARGV from `first` on, seven arguments each:
--   id, head of the tail (attempts_max|job|priority), rest of the tail (timeout_ms and on),
--   content, 'delay_ms|at_ms|expires_ms|priority' or '' for zeros, unique key or '', payload
-- Returns one letter a run and the holders of the unique keys that were taken.

local ENQUEUE_STRIDE = 7

local function runs_known(first)
  local ids = {}
  for at = first, #ARGV, ENQUEUE_STRIDE do ids[#ids + 1] = ARGV[at] end
  return ids, read(runs, ids)
end

-- The ids of the batch that are in a slot of remembered ones.
local function ids_seen(ids, texts, now)
  local bins, found = {}, {}
  for at, id in ipairs(ids) do
    local ms = id_ms(id)
    if not texts[at] and is_near(ms, now) then
      local slot = slot_of(ms)
      local bin = bins[slot]
      if bin then bin[#bin + 1] = id else bins[slot] = {id} end
    end
  end
  for slot, bin in pairs(bins) do
    for from = 1, #bin, 1000 do
      local flags = call('SMISMEMBER', slot, unpack(bin, from, math.min(from + 999, #bin)))
      for at, flag in ipairs(flags) do
        if flag == 1 then found[bin[from + at - 1]] = true end
      end
    end
  end
  return found
end

-- The live run that holds `key`, nil when nobody does.
local function key_holder(key, claimed)
  local holder = claimed[key] or call('HGET', unique, key)
  if not holder or claimed[key] then return holder or nil end
  return call('HEXISTS', runs, holder) == 1 and holder or nil
end

local function live_count(ghosts)
  return call('LLEN', ready) - math.max(tonumber(ghosts or 0), 0) + call('ZCARD', urgent)
    + call('ZCARD', scheduled) + call('ZCARD', active)
end

local function enqueue(first, now)
  local facts = call('HMGET', meta, 'slot', 'limit', 'ghosts')
  local room = facts[2] and tonumber(facts[2]) - live_count(facts[3]) or math.huge
  local ids, texts = runs_known(first)
  local seen_before = ids_seen(ids, texts, now)
  local answers, holders, mine, claimed = {}, {}, {}, {}
  local records, bodies, backs, urgents, dues, keys = {}, {}, {}, {}, {}, {}
  local urgent_levels = {}
  -- Making a number's text is slow; these are the same for the whole batch.
  local version_text, now_text = RECORD_VERSION .. '|', '|' .. now .. '|'

  for index, id in ipairs(ids) do
    local at = first + (index - 1) * ENQUEUE_STRIDE
    local before, rest, content, times, key =
      ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], ARGV[at + 5]
    local known = mine[id]
    if not known and texts[index] then
      local r = record_parse(texts[index])
      known = r and string.match(r.tail, TAIL_content) or 'damaged'
    end
    local holder = not known and key ~= '' and key_holder(key, claimed) or nil
    if known then
      answers[index] = known == content and 'D' or 'C'
    elseif not is_near(id_ms(id), now) then
      answers[index] = 'E'
    elseif seen_before[id] then
      answers[index] = 'D'
    elseif room <= 0 then
      answers[index] = 'F'
    elseif holder then
      answers[index] = 'U'
      holders[#holders + 1] = holder
    else
      local due, expires, state, level = now, '0', WAITING, '0'
      if times ~= '' then
        local delay, at_ms, expires_in, priority = string.match(times, '^(%d+)|(%d+)|(%d+)|(%d)$')
        at_ms = tonumber(at_ms)
        due = at_ms > 0 and at_ms or now + tonumber(delay)
        if due > now then state = SCHEDULED end
        if tonumber(expires_in) > 0 then expires = math.max(due, now) + tonumber(expires_in) end
        level = priority
      end
      records[#records + 1] = id
      records[#records + 1] = version_text .. state .. '|0|0|0|0|0||0|'
        .. (state == SCHEDULED and due or '0') .. '|0|' .. before .. now_text .. expires .. '|' .. rest
      bodies[#bodies + 1] = id
      bodies[#bodies + 1] = ARGV[at + 6]
      if state == SCHEDULED then
        dues[#dues + 1] = due
        dues[#dues + 1] = id
      elseif level == '0' then
        backs[#backs + 1] = id
      else
        urgents[#urgents + 1] = id
        urgent_levels[#urgents] = tonumber(level)
      end
      if key ~= '' then
        claimed[key] = id
        keys[#keys + 1] = key
        keys[#keys + 1] = id
      end
      mine[id] = content
      room = room - 1
      answers[index] = 'N'
    end
  end

  -- The first write must be one that a server without memory refuses: nothing is half done.
  write('HSET', payloads, bodies)
  write('HSET', runs, records)
  write('ZADD', scheduled, dues)
  write('RPUSH', ready, backs)
  write('HSET', unique, keys)
  if #urgents > 0 then
    local order, entries = call('HINCRBY', meta, 'back', #urgents) - #urgents, {}
    for at, id in ipairs(urgents) do
      entries[#entries + 1] = order + at - urgent_levels[at] * 1099511627776
      entries[#entries + 1] = id
    end
    write('ZADD', urgent, entries)
  end
  if #records > 0 then
    call('HINCRBY', meta, 'enqueued', #records / 2)
    slots_turn(facts[1], now)
  end
  if #backs + #urgents > 0 then wake_one() end
  return table.concat(answers), holders
end
