-- store/redis/lib_enqueue.lua - new runs: which are taken, and where they are put.
--
-- They stand in ARGV from `first` on, five arguments each:
--   id, record from keep_success_ms on, 'delay_ms|at_ms|expires_ms|priority' or '' for zeros,
--   unique key or '', payload
-- A periodic run passes the queue's limit: it comes at most once an interval.
-- Returns one letter a run and the holders of the unique keys that were taken.

local ENQUEUE_STRIDE = 5

local function runs_known(first)
  local ids = {}
  local count = 0
  for at = first, #ARGV, ENQUEUE_STRIDE do
    count = count + 1
    ids[count] = ARGV[at]
  end
  return ids, read(runs, ids)
end

-- The ids of the batch that are in a span of remembered ones.
local function ids_seen(ids, texts, now)
  local bins, found = {}, {}
  for at = 1, #ids do
    local id = ids[at]
    local span = not texts[at] and span_near(id, now)
    if span then
      local bin = bins[span]
      if bin then bin[#bin + 1] = id else bins[span] = {id} end
    end
  end
  for span, bin in pairs(bins) do
    for from = 1, #bin, 1000 do
      local flags = call('SMISMEMBER', span, unpack(bin, from, math.min(from + 999, #bin)))
      for at = 1, #flags do
        if flags[at] == 1 then found[bin[from + at - 1]] = true end
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

local function content_of(tail)
  return string.match(tail, TAIL_content)
end

-- The record up to created_at_ms of a run with `times`; when it is due; its priority.
-- ORDER RECORD_FIELD: state attempt owner at claimed started losses expires, four more zeros.
local function head_of(times, now, now_text)
  local delay, at_ms, expires_in, level = string.match(times, '^(%d+)|(%d+)|(%d+)|(%d)$')
  at_ms, expires_in = tonumber(at_ms), tonumber(expires_in)
  local due = at_ms > 0 and at_ms or now + tonumber(delay)
  local expires = expires_in > 0 and math.max(due, now) + expires_in or '0'
  local lease = due > now and SCHEDULED .. '|0||' .. due or WAITING .. '|0||0'
  return RECORD_VERSION .. '|' .. lease .. '|0|0|0|' .. expires .. '|0|0|0|0|' .. now_text, due, level
end

local function enqueue(first, now, is_unlimited)
  local facts = call('HMGET', meta, 'slot', 'limit', 'ghosts', 'paused')
  local room = math.huge
  if facts[2] and not is_unlimited then room = tonumber(facts[2]) - live_count(facts[3]) end
  local ids, texts = runs_known(first)
  local seen_before = ids_seen(ids, texts, now)
  local answers, holders, mine, claimed = {}, {}, {}, {}
  local records, bodies, backs, urgents, dues, keys = {}, {}, {}, {}, {}, {}
  local urgent_levels, urgent_dues = {}, {}
  local record_count, back_count = 0, 0
  -- Making a number's text is slow; these are the same for the whole batch.
  local now_text = now .. '|'
  local fresh_text = RECORD_FRESH .. now_text

  for index = 1, #ids do
    local at, id, known = first + (index - 1) * ENQUEUE_STRIDE, ids[index], nil
    local rest, times, key = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
    if mine[id] then
      known = content_of('0|' .. mine[id])
    elseif texts[index] then
      local r = record_parse(texts[index])
      known = r and content_of(r.tail) or 'damaged'
    end
    local holder = not known and key ~= '' and key_holder(key, claimed) or nil
    if known then
      answers[index] = known == content_of('0|' .. rest) and 'D' or 'C'
    elseif not span_near(id, now) then
      answers[index] = 'E'
    elseif seen_before[id] then
      answers[index] = 'D'
    elseif holder then
      answers[index] = 'U'
      holders[#holders + 1] = holder
    elseif room <= 0 then
      answers[index] = 'F'
    else
      local text, due, level = fresh_text, now, '0'
      if times ~= '' then text, due, level = head_of(times, now, now_text) end
      records[record_count + 1] = id
      records[record_count + 2] = text .. rest
      bodies[record_count + 1] = id
      bodies[record_count + 2] = ARGV[at + 4]
      record_count = record_count + 2
      if due > now then
        dues[#dues + 1] = due
        dues[#dues + 1] = id
        if level ~= '0' then
          urgent_dues[#urgent_dues + 1] = due
          urgent_dues[#urgent_dues + 1] = id
        end
      elseif level == '0' then
        back_count = back_count + 1
        backs[back_count] = id
      else
        urgents[#urgents + 1] = id
        urgent_levels[#urgents] = tonumber(level)
      end
      if key ~= '' then
        claimed[key] = id
        keys[#keys + 1] = key
        keys[#keys + 1] = id
      end
      mine[id] = rest
      room = room - 1
      answers[index] = 'N'
    end
  end

  if #records == 0 then return table.concat(answers), holders end
  -- The first write must be one that a server without memory refuses: nothing is half done. The
  -- records come last: with them the runs exist, and a repeated call finds them.
  write('ZADD', scheduled, dues)
  write('ZADD', scheduled_urgent, urgent_dues)
  write('RPUSH', ready, backs)
  if #urgents > 0 then
    local order, entries = call('HINCRBY', meta, 'back', #urgents) - #urgents, {}
    for at, id in ipairs(urgents) do
      entries[#entries + 1] = order + at - urgent_levels[at] * 1099511627776
      entries[#entries + 1] = id
    end
    write('ZADD', urgent, entries)
  end
  if #backs + #urgents > 0 and facts[4] ~= '1' then wake_one() end
  spans_turn(facts[1], now)
  call('HINCRBY', meta, 'enqueued', #records / 2)
  write('HSET', payloads, bodies)
  write('HSET', unique, keys)
  write('HSET', runs, records)
  return table.concat(answers), holders
end
