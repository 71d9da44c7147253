-- store/redis/step_fast.lua - a step of which all is ordinary: groups of successes, and a claim off the line.
-- keys: meta bodies blocks spans block_leases block_ends sessions active scheduled done dead cancelled wake slots refills buckets batches_until events
-- uses: layout
-- level: works
--
-- ARGV: as in redis/lib_request.lua, without listed acks and beats, and before the groups' ids the salt
-- that all of them have; and, only where the queue tells events, their ids in spans (store/event_entry.h). Where runs wait that need something, a worker that offers something takes a full step.
-- Reply: as of redis/step.lua; 'F' alone, and nothing is written, when something is out of the ordinary: then
-- the same step is sent to that script, which comes to the same replies and keys.
-- It looks at everything first. Most steps are this one, and there each function costs its making and each
-- command about as much as granting two runs: so it is one piece of straight code.

local BATCH_NEVER = 9999999999999 -- as redis/lib_batches.lua has it
local PORTION = 32 -- bodies that are read at a time, as in step.lua

local call, sub, find, match = redis.call, string.sub, string.find, string.match
local session, nonce, want, group_count = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[11])

-- ORDER FAST_FACTS
local facts = call('HMGET', meta, 'layout', 'calm', 'salt', 'taken', 'line', 'held', 'kept', 'done', 'lease', 'looked', 'limits',
  'batches', 'events', 'event')
local now = tonumber(ARGV[1])
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local calm, taken, held, kept, dones = tonumber(facts[2]), tonumber(facts[4] or 0), tonumber(facts[6] or 0),
  tonumber(facts[7] or 0), tonumber(facts[8] or 0)
local lease, looked = tonumber(ARGV[6]), tonumber(facts[10])
local lease_end = now + lease

-- Nothing comes due, the upkeep has been done, and this lease is no longer than those before.
if match(facts[1] or '', '^[^|]*') ~= LAYOUT or not calm or now >= calm or not looked or now < looked or now - looked >= LEASE_LOOK_MS
  or lease > (tonumber(facts[9]) or 0) or facts[11] and now < (tonumber(facts[11]) or 0) or want + group_count == 0 or not taken or not held or not kept or not dones or not facts[3] then return {'F'} end

if facts[11] and ARGV[#ARGV] ~= '' and want > 0 and call('ZLEXCOUNT', slots, '[Pneeds ', '(Pneeds!') > 0 then return {'F'} end

-- The session's first step since a while is a full one; one that is late or repeated, too.
local last = call('HGET', sessions, session)
local last_nonce, last_seen = match(last or '', '^(%d+)|(%d+)|')
if not last_nonce or #nonce < #last_nonce or #nonce == #last_nonce and nonce <= last_nonce
  or now < tonumber(last_seen) or now - last_seen > 60000 then return {'F'} end

-- The blocks of the groups, and the one that a step which was stopped left behind what is taken.
local first = taken + 1
local names = {first}
for group = 1, group_count do names[group + 1] = ARGV[9 + group * 3] end
local texts = call('HMGET', blocks, unpack(names))
if texts[1] or group_count > 0 and ARGV[12 + group_count * 3] ~= facts[3] then return {'F'} end
local ended_spans = group_count > 0 and #ARGV == 14 + group_count * 3 and ARGV[13 + group_count * 3] or ''
if facts[13] and group_count > 0 and ended_spans == '' then return {'F'} end

-- What becomes of them. A group is held by this session, all of it; it may go on in the block behind.
local changed, known, body_drops, ended = {}, {}, {}, 0
for group = 1, group_count do
  local name, left, its_since = names[group + 1], tonumber(ARGV[10 + group * 3]), ARGV[11 + group * 3]
  local number, text = tonumber(name), texts[group + 1]
  while left > 0 do
    local b = known[name]
    if not b then
      if not text then
        name = call('ZREVRANGEBYSCORE', spans, number, '-inf', 'LIMIT', 0, 1)[1]
        b = name and known[name]
        text = name and not b and call('HGET', blocks, name)
      end
      if not b then
        local owner, since, keep, timeout, long, chars, untils = match(text or '', BLOCK_FIELDS)
        if owner ~= session or since ~= its_since or keep == '' or long == '1' and keep ~= '0' then return {'F'} end
        b = {name = name, before = tonumber(name) - 1, keep = keep, chars = chars, untils = untils,
          head = owner .. '|' .. since .. '|' .. keep .. '|' .. timeout .. '|' .. long .. '|'}
        known[name] = b
        changed[#changed + 1] = b
      end
    end
    local place = number - b.before
    local _, stop = find(b.chars, '^[01]+', place)
    if not stop then return {'F'} end
    local count = math.min(stop - place + 1, left)
    local letter = '-'
    if b.keep == '0' then
      local drops = #body_drops
      for at = 1, count do body_drops[drops + at] = number + at - 1 end
    else
      local until_ms = now + b.keep
      local until_text, list, free = tostring(until_ms), {}, nil
      letter = nil
      -- As block_letter() and block_end() of redis/lib_blocks.lua.
      if b.untils ~= '' then
        for instant in string.gmatch(b.untils, '%d+') do
          local at = #list + 1
          list[at] = instant
          local is_used = find(b.chars, sub(LETTERS, at, at), 1, true)
          if instant == until_text then letter = letter or sub(LETTERS, at, at) end
          if not is_used then free = free or at
          elseif not b.ends or tonumber(instant) < b.ends then b.ends = tonumber(instant) end
        end
      end
      if not letter then
        free = free or #list + 1
        if free > #LETTERS then return {'F'} end
        list[free], letter = until_text, sub(LETTERS, free, free)
        b.untils = table.concat(list, ',')
      end
      if not b.ends or until_ms < b.ends then b.ends, b.is_sooner = until_ms, true end
      kept = kept + count
      if until_ms < calm then calm = until_ms end
    end
    b.chars = sub(b.chars, 1, place - 1) .. string.rep(letter, count) .. sub(b.chars, place + count)
    ended, number, left = ended + count, number + count, left - count
    if left > 0 then
      name = tostring(number)
      text = call('HGET', blocks, name)
    end
  end
end

-- What is granted: numbers that follow each other, of bodies that can be read. They come in portions, as
-- their payloads may be long: what is read beyond max_bytes is read for nothing.
local last_number = tonumber(facts[5]) or 0
local count, list, keep, timeout, long = 0, {}, nil, nil, '0'
local most = math.min(want, last_number - taken)
local bytes, bytes_max, longest, common, from, to = 0, tonumber(ARGV[5]), 0, nil, 0, 0
-- Where events are told: of which milliseconds the runs are, and how many come before each. Their heads are alike with the time, then.
local times, befores, behind, rest_common = {}, {}, 0, nil
-- One span ends where its ids' last four bytes do.
if facts[13] and (first % 4294967296) + want > 4294967296 then return {'F'} end
while count < most do
  local numbers = {}
  for at = 1, math.min(most - count, PORTION) do numbers[at] = taken + count + at end
  local portion = call('HMGET', bodies, unpack(numbers))
  for at = 1, #numbers do
    local body = portion[at]
    if not body then return {'F'} end
    -- Heads of one job are alike but for the time.
    local head, its_keep, its_timeout, rest, is_later
    if sub(body, from, to) ~= common then
      if not rest_common or sub(body, behind, to) ~= rest_common then
        head, its_keep, its_timeout, rest = match(body, BODY_HOT)
        if not head or rest - 2 > BODY_HEAD_BYTES_MAX then return {'F'} end
        from, to = #head + 1, rest - 1
        if facts[13] then from, behind, rest_common = 1, from, sub(body, from, to) end
      end
      common = sub(body, from, to)
      is_later = facts[13]
    end
    local payload = #body - to
    if payload > PAYLOAD_BYTES_MAX then return {'F'} end
    if count > 0 then bytes = bytes + payload end
    if bytes > bytes_max then most = count break end
    if is_later then
      local ms = tonumber(sub(body, 1, behind - 1))
      if not ms then return {'F'} end
      if ms ~= times[#times] then times[#times + 1], befores[#befores + 1] = ms, count end
    end
    if count == 0 then keep, timeout = its_keep, its_timeout end
    if head and (keep ~= its_keep or timeout ~= its_timeout) then keep, timeout = '', '' end
    if payload > longest then longest = payload end
    count = count + 1
    list[count] = body
  end
end
if longest > BODY_LONG_BYTES then long = '1' end

-- Something waits, and not where it should.
if want > 0 and count == 0 and call('HLEN', bodies) > held + tonumber(facts[7] or 0) then return {'F'} end
held = held - ended

-- A server short of memory refuses a script whose first write may need some; acks pass.
call('ZREM', active, '')
if #body_drops > 0 then
  -- At no time may more be said to be held and kept than there are.
  call('HSET', meta, 'held', held)
  call('HDEL', bodies, unpack(body_drops))
end
local puts, gone, unleased = {}, {}, {}
for at = 1, #changed do
  local b = changed[at]
  if find(b.chars, '[^%-]') then
    puts[#puts + 1] = b.name
    puts[#puts + 1] = b.head .. b.chars .. '|' .. b.untils
    if b.is_sooner then call('ZADD', block_ends, b.ends, b.name) end
    if not find(b.chars, '[01]') then unleased[#unleased + 1] = b.name end
  else
    gone[#gone + 1] = b.name
    unleased[#unleased + 1] = b.name
  end
end
if count > 0 then
  local started = math.min(tonumber(ARGV[9]), count)
  puts[#puts + 1] = first
  puts[#puts + 1] = session .. '|' .. now .. '|' .. keep .. '|' .. timeout .. '|' .. long .. '|'
    .. string.rep('1', started) .. string.rep('0', count - started) .. '|'
end
if #puts > 0 then call('HSET', blocks, unpack(puts)) end
if count > 0 then
  call('ZADD', spans, first, first)
  call('ZADD', block_leases, lease_end, first)
  if lease_end < calm then calm = lease_end end
end
if #gone > 0 then
  call('ZREM', spans, unpack(gone))
  call('HDEL', blocks, unpack(gone))
end
if #unleased > 0 then call('ZREM', block_leases, unpack(unleased)) end
local acks = string.rep('O', ended)
call('HSET', sessions, session, nonce .. '|' .. last_seen .. '|' .. acks .. '||' .. (count > 0 and '#' .. first .. ';' or ''))
-- What becomes of them is one entry, as events_write() of redis/lib_events.lua makes it.
local told = facts[13] and ended + count or 0
local last_told = (tonumber(facts[14] or nil) or 0) + told
if told > 0 then
  local text, started = string.format('%.0f', last_told), ''
  for at = 1, #times do
    local ms, number = times[at], first + befores[at]
    started = started .. struct.pack('>I2I4I2I2I2I4I2', math.floor(ms / 4294967296), ms % 4294967296, 28672 + math.floor(facts[3] / 16384),
      32768 + facts[3] % 16384, 4096 + math.floor(number / 4294967296), number % 4294967296, (befores[at + 1] or count) - befores[at])
  end
  call('ZADD', events, text, text .. '|' .. now .. '|' .. told .. '\n' .. (ended > 0 and 'D|1|' .. ended .. '|\n' .. ended_spans or '')
    .. (count > 0 and 'S|1|' .. count .. '|\n' .. started or ''))
  local beyond = last_told - facts[13]
  if beyond > 0 and math.floor(last_told / EVENTS_TRIM) ~= math.floor((last_told - told) / EVENTS_TRIM) then
    local old = call('ZRANGEBYSCORE', events, '-inf', string.format('%.0f', beyond), 'LIMIT', 0, EVENTS_TRIM * 2)
    if #old > 0 then call('ZREM', events, unpack(old)) end
  end
end
local sums = {'taken', taken + count, 'held', held + count, 'calm', calm}
if ended > 0 then sums[7], sums[8] = 'done', dones + ended end
if kept > (tonumber(facts[7]) or 0) then sums[#sums + 1], sums[#sums + 2] = 'kept', kept end
if told > 0 then sums[#sums + 1], sums[#sums + 2] = 'event', string.format('%.0f', last_told) end
call('HSET', meta, unpack(sums))
local has_more = last_number > taken + count and call('HLEN', bodies) > held + count + kept
if has_more and call('LLEN', wake) == 0 then call('RPUSH', wake, '1') end
-- Who has no more to do is told until when, and whether all is over: while it is calm, nothing waits but in
-- the line.
local due_in, is_empty = calm - now, false
if not has_more then
  local sets, soonest, live = {scheduled, active, block_leases, done, dead, cancelled, block_ends}, nil, 0
  for at = 1, 7 do
    local score = tonumber(call('ZRANGE', sets[at], 0, 0, 'WITHSCORES')[2] or nil)
    if score and at <= 3 then
      live = live + 1
    elseif score and score > now then
      score = math.max(score, now + FORGET_GAP_MS)
    end
    if score and (not soonest or score < soonest) then soonest = score end
  end
  -- Runs with limits may be parked, and whoever is first of them has its time.
  if facts[11] then
    live = live + call('ZLEXCOUNT', slots, '[P', '(Q')
    local score = tonumber(call('ZRANGE', refills, 0, 0, 'WITHSCORES')[2] or nil)
    if score and (not soonest or score < soonest) then soonest = score end
    -- A full bucket is forgotten as what is over of ended runs.
    local full = tonumber(call('ZRANGE', buckets, 0, 0, 'WITHSCORES')[2] or nil)
    full = full and math.max(math.ceil(full / 1000), now + FORGET_GAP_MS)
    if full and (not soonest or full < soonest) then soonest = full end
  end
  -- Who has not closed a batch in time may leave no work that would bring a worker by.
  if facts[12] then
    local over = tonumber(call('ZRANGE', batches_until, 0, 0, 'WITHSCORES')[2] or nil)
    over = over and over < BATCH_NEVER and math.max(over, now + FORGET_GAP_MS) or nil
    if over and (not soonest or over < soonest) then soonest = over end
  end
  due_in = soonest and math.max(soonest - now, 0) or -1
  is_empty = live == 0 and call('HLEN', bodies) <= kept
end
return {now, due_in, (is_empty and 34 or 32) + (facts[13] and 256 or 0), acks, '', tonumber(facts[3]), count > 0 and first or 0, now, list}
