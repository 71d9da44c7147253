-- store/redis/lib_leases.lua - who holds a run and until when: STEP's beats, and leases that ran out.

local function holds(r, attempt)
  return r.state == ACTIVE and r.attempt == attempt and r.owner == session
end

-- A lease is known before it is given.
local function lease_note()
  if longest and longest >= lease then return end
  longest = lease
  call('HSET', meta, 'lease', lease)
end

local beats_extend
do
-- The timeout counts anew from where it ends after `extend` more ms; never from earlier.
local function timeout_extend(r, timeout, extend)
  r.timeout_from_ms = math.max(tonumber(r.timeout_from_ms), now + extend - timeout)
end

local progress_puts = {}

local function beat_extend(id, r, order)
  if not r then return 'G' end
  local attempt, extend, started, words = string.match(order, '^(%d+)|(%d+)|([012])|(.*)$')
  if not holds(r, attempt) then
    count('stale', 1)
    return 'S'
  end
  local timeout = tonumber(string.match(r.tail, TAIL_timeout_ms))
  r.at_ms = now + lease
  if timeout > 0 then
    if extend ~= '0' then timeout_extend(r, timeout, tonumber(extend)) end
    r.at_ms = math.min(r.at_ms, r.timeout_from_ms + timeout + TIMEOUT_SLACK_MS)
  end
  if started ~= '0' then r.started = started == '1' and 1 or 0 end
  if words ~= '' then words = words_keep(id, words) end
  if words ~= '' then progress_puts[#progress_puts + 1], progress_puts[#progress_puts + 2] = id, words end
  plan_put('lease_puts', r.at_ms, id)
  plan_put('record_puts', id, record_text(r))
  return r.cancel == '1' and 'C' or 'O'
end

-- Ordinary runs that are beaten, by their blocks: what each held one was told.
local beaten, beaten_blocks = {}, {}

local function beat_gather(at, id, number, body, order)
  local b, place, char = block_of(number)
  local is_held = char == '1' or char == '0'
  -- Not here; or its number is another's by now, of a queue that came back older, or was begun anew.
  if not is_held and (char == '-' or not body) then return 'G' end
  if body and id ~= line_id(number, body_ms(body)) then return 'G' end
  if not is_held or b.owner ~= session or sub(order, 1, 2) ~= '1|' then
    count('stale', 1)
    return 'S'
  end
  local beats = beaten[b.name]
  if not beats then
    beats = {count = 0, is_plain = true, orders = {}, ids = {}}
    beaten[b.name] = beats
    beaten_blocks[#beaten_blocks + 1] = b
  end
  if beats.orders[place] or not find(order, '^1|0|[012]|$') then beats.is_plain = false end
  beats.orders[place], beats.count = order, beats.count + 1
  beats[beats.count] = {at = at, id = id, place = place, order = order}
  return 'O'
end

-- How long its runs may be held at all, from its claim on; 0 for ever, nil when a body is missing.
local function block_timeout(b)
  if b.timeout ~= '' then return tonumber(b.timeout) end
  local least, numbers = 0, {}
  for place = 1, #b.chars do
    if find(b.chars, '^[01]', place) then numbers[#numbers + 1] = b.first + place - 1 end
  end
  for _, body in ipairs(read(bodies, numbers)) do
    local timeout = tonumber(match(body or '', '^%d+|%d+|(%d+)|'))
    if not timeout then return nil end
    if timeout > 0 and (least == 0 or timeout < least) then least = timeout end
  end
  return least
end

-- All that is held of it: its lease ends later. False when that does not do: where the least of several timeouts
-- is near, each run has its own limit.
local function block_beat(b, beats)
  local _, held = string.gsub(b.chars, '[01]', '')
  if not beats.is_plain or beats.count ~= held then return false end
  local timeout = block_timeout(b)
  if not timeout then return false end
  b.lease = now + lease
  if timeout > 0 and b.since + timeout + TIMEOUT_SLACK_MS < b.lease then
    if b.timeout == '' then return false end
    b.lease = b.since + timeout + TIMEOUT_SLACK_MS
  end
  plan_put('block_lease_puts', b.lease, b.name)
  for at = 1, beats.count do
    local place, started = beats[at].place, sub(beats[at].order, 5, 5)
    local char = started == '1' and '1' or started == '2' and '0' or nil
    if char and sub(b.chars, place, place) ~= char then block_set(b, place, 1, char) end
  end
  return true
end

-- Each becomes a run with a record.
local function beats_adopt(b, beats, answers, records)
  local numbers = {}
  for at = 1, beats.count do numbers[at] = line_number(beats[at].id) end
  local texts = read(bodies, numbers)
  for at, beat in ipairs(beats) do
    local o = not records[beat.id] and texts[at] and ordinary_in(b, beat.place, texts[at])
    if o and o.id == beat.id then
      if o.head then records[o.id] = ordinary_adopt(o) else body_aside(o) end
    end
    answers[beat.at] = beat_extend(beat.id, records[beat.id], beat.order)
  end
end

function beats_extend()
  local ids, answers, records = {}, {}, {}
  for at = 1, beat_count do ids[at] = ARGV[beats_at + at * 2 - 2] end
  local texts = read(runs, ids)
  local found, number_of = ordinary_read(ids, texts)
  for at = 1, beat_count do
    local id, order = ids[at], ARGV[beats_at + at * 2 - 1]
    if number_of[at] then
      answers[at] = beat_gather(at, id, number_of[at], found[at], order)
    else
      -- A run that is named twice goes on from what its first beat made of it.
      local r = records[id] or texts[at] and record_parse(texts[at])
      records[id] = r
      answers[at] = beat_extend(id, r, order)
    end
  end
  for _, b in ipairs(beaten_blocks) do
    local beats = beaten[b.name]
    if not block_beat(b, beats) then beats_adopt(b, beats, answers, records) end
  end
  if plan.lease_puts or plan.block_lease_puts then lease_note() end
  write('HSET', progress, progress_puts)
  plan_write()
  return table.concat(answers)
end
end

local reap, leases_cut
do
-- The entry of `active` leads to a run that is not: `r` is nil when its record cannot be read.
local function lease_skip(id, text, r)
  plan_add('lease_drops', id)
  if text and not r then aside_put(id, text) end
end

-- Name and end of some entries whose time is over, into `dues`.
local function dues_add(dues, key, most, is_block)
  local found = call('ZRANGEBYSCORE', key, '-inf', now, 'WITHSCORES', 'LIMIT', 0, most)
  for at = 1, #found, 2 do
    local place = is_block and tonumber(found[at]) or at
    dues[#dues + 1] = {name = found[at], at = tonumber(found[at + 1]), place = place, is_block = is_block}
  end
end

local function is_earlier(a, b)
  if a.at == b.at and a.is_block ~= b.is_block then return b.is_block end
  if a.at == b.at then return a.place < b.place end
  return a.at < b.at
end

-- The first REAP_MAX of both kinds, by the ends of their leases; of the last block, the rest.
local function dues_cut(dues)
  local room = REAP_MAX
  for at, due in ipairs(dues) do
    if room <= 0 then
      dues[at] = nil
    else
      local b = due.is_block and block_load(due.name)
      local _, held = string.gsub(b and b.chars or '', '[01]', '')
      due.most = math.min(room, due.is_block and held or 1)
      room = room - math.max(due.most, 1)
    end
  end
end

local function run_reap(id, text)
  local r = text and record_parse(text)
  if r and r.state == ACTIVE then
    vanish(id, r, 'the lease of ' .. r.owner .. '-' .. r.attempt .. ' ran out', now)
  else
    lease_skip(id, text, r)
  end
end

function reap()
  local dues = {}
  dues_add(dues, active, REAP_MAX, false)
  dues_add(dues, block_leases, REAP_MAX, true)
  table.sort(dues, is_earlier)
  dues_cut(dues)
  local ids = {}
  for _, due in ipairs(dues) do if not due.is_block then ids[#ids + 1] = due.name end end
  local texts, at_text = read(runs, ids), #ids
  -- Most go to the front: the first one last, so that it is first again.
  for at = #dues, 1, -1 do
    local due = dues[at]
    if not due.is_block then
      run_reap(due.name, texts[at_text])
      at_text = at_text - 1
    elseif due.most == 0 then
      plan_add('block_lease_drops', due.name)
    else
      local b = block_load(due.name)
      held_vanish(b, due.most, 'the lease of ' .. b.owner .. '-1 ran out', now)
    end
  end
  plan_write()
end

local function blocks_cut(first)
  local names = call('ZRANGEBYSCORE', block_leases, first, '+inf', 'LIMIT', 0, REAP_MAX)
  for _, name in ipairs(names) do plan_put('block_lease_puts', now + longest, name) end
  return #names
end

-- A lease from before the clock was set back would keep its run from others for the length of the
-- jump. Its holder, if it lives, beats before the new end.
function leases_cut()
  local first = now + longest + LEASE_LOOK_MS + 1
  local ids = call('ZRANGEBYSCORE', active, first, '+inf', 'LIMIT', 0, REAP_MAX)
  local texts = read(runs, ids)
  for at, id in ipairs(ids) do
    local r = texts[at] and record_parse(texts[at])
    if r and r.state == ACTIVE then
      r.at_ms = now + longest
      plan_put('lease_puts', r.at_ms, id)
      plan_put('record_puts', id, record_text(r))
    else
      lease_skip(id, texts[at], r)
    end
  end
  local cut = blocks_cut(first)
  plan_write()
  call('HSET', meta, 'looked', math.max(#ids, cut) < REAP_MAX and now or 0)
end
end
