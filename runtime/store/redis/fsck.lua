-- store/redis/fsck.lua - compares what is derived from the records with them, and repairs it.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active done cancelled dead errors results progress unique meta wake sessions sessions_seen producers producers_until keys keys_until damaged
-- uses: base layout plan wake aside memory
-- level: repairs
--
-- A call looks at one share of the queue, ARGV[2], from place ARGV[3] on, and repairs what disagrees
-- with the records when ARGV[4] is '1'. Nothing is written otherwise. A call is bounded: about
-- 100 entries of a hash or a set (25 where the values may be large), 1000 of the ready list.
-- Hashes and sets that Redis packs into one block come whole; they are as small.
--
--   records        every record against the index, payload and unique key that it wants
--   walk           entries of the ready list, counted from its end
--   verify         ARGV[5..]: id, attempt, expiry of runs that waited and were not met by the walk
--   NAME           entries of that index against their records
--   totals         the counts that can be told from other counts
--
-- Reply: next place ('0' at the end), records, wrong, damaged; then for records: id, attempt,
-- expiry of the runs that must be in the ready list; for walk: ids.
--
-- Fields are read in one call and written in the same, so a run that moves between calls is met
-- in its old or new place. HSCAN and its kin show what stays in a collection during a whole
-- scan; an entry that comes and goes was put there by a script, which put it right.

local share, place, is_repairing = ARGV[2], ARGV[3], ARGV[4] == '1'
local now = clock()
local find, sub, match = string.find, string.sub, string.match
local records, wrong, spoilt = 0, 0, 0
local more = {}
local LACKS = 'the payload is missing'

local function answer(next_place)
  return {next_place, records, wrong, spoilt, unpack(more)}
end

-- Strict reading, as redis/record.c does it.

-- Whatever is left above 127 once the well-formed sequences are blanks is no UTF-8.
local function is_utf8(text)
  if not find(text, '[\128-\255]') then return true end
  if find(text, '\224[\128-\159]') or find(text, '\237[\160-\191]') or find(text, '\240[\128-\143]')
    or find(text, '\244[\144-\191]') or find(text, '[\192\193\245-\255]') then
    return false
  end
  text = string.gsub(text, '[\240-\244][\128-\191][\128-\191][\128-\191]', ' ')
  text = string.gsub(text, '[\224-\239][\128-\191][\128-\191]', ' ')
  text = string.gsub(text, '[\194-\223][\128-\191]', ' ')
  return not find(text, '[\128-\255]')
end

local function is_int(text, most)
  if not find(text, '^%d+$') or #text > 18 or find(text, '^0.') then return false end
  return most == 0 or tonumber(text) <= most
end

local function is_field(kind, text, most)
  if kind == 'int' then return is_int(text, most) end
  if kind == 'hex' then return #text == 16 and not find(text, '[^0-9a-f]') end
  if kind == 'letter' then return #text == 1 and find(STATES, text, 1, true) ~= nil end
  return not find(text, '%c') and is_utf8(text)
end

-- The version in front is record_parse's affair.
local function is_strict(text)
  local at = 0
  for field in string.gmatch(text .. '|', '([^|]*)|') do
    if at > 0 and not is_field(RECORD_KINDS[at], field, RECORD_MOST[at]) then return false end
    at = at + 1
  end
  return at == #RECORD_KINDS + 1
end

local function strict_parse(id, text)
  return #id == 16 and text and is_strict(text) and record_parse(text) or nil
end

-- A run whose record was put aside leaves entries behind, which are not wrong on top of that.
local function is_aside(id)
  return call('HEXISTS', damaged, id) == 1
end

-- Records.

local function put_aside(id, text)
  spoilt = spoilt + 1
  if is_repairing then aside_put(id, text) end
end

-- A run that cannot be executed any more ends. An active one has its payload already: it may
-- well succeed, and if not it comes by here again.
local function payload_check(id, r)
  if r.state == DONE or r.state == ACTIVE or call('HEXISTS', payloads, id) == 1 then return r.state end
  if IS_FINAL[r.state] then
    if call('HGET', errors, id) == LACKS then return r.state end
    spoilt = spoilt + 1
    if is_repairing then put(text_puts, id, LACKS) end
    return r.state
  end
  spoilt = spoilt + 1
  if not is_repairing then return r.state end
  if r.state == SCHEDULED then
    due_drop(id, r)
  elseif call('ZREM', urgent, id) == 0 then
    call('HINCRBY', meta, 'ghosts', 1)
  end
  put(text_puts, id, LACKS)
  finish(id, r, DEAD, keep_until(r, now, TAIL_keep_failure_ms))
  put(record_puts, id, record_text(r))
  return nil
end

local function is_holder(key, id)
  local text = call('HGET', runs, id)
  local r = text and strict_parse(id, text)
  return r and not IS_FINAL[r.state] and match(r.tail, TAIL_unique_key) == key
end

-- When two live runs claim one key, the one that holds it keeps it and the other loses its claim.
local function unique_check(id, r)
  local key = match(r.tail, TAIL_unique_key)
  if key == '' or IS_FINAL[r.state] then return end
  local holder = call('HGET', unique, key)
  if holder == id then return end
  wrong = wrong + 1
  if not is_repairing then return end
  if not holder or not is_holder(key, holder) then
    call('HSET', unique, key, id)
    return
  end
  local _, stop = find(r.tail, TAIL_unique_key)
  r.tail = sub(r.tail, 1, stop - 1 - #key) .. sub(r.tail, stop)
  call('HSET', runs, id, record_text(r))
end

-- Priority and order share a score: score = order - priority * 2^40.
local function urgent_priority(score)
  return math.floor((549755813888 - score) / 1099511627776)
end

local function urgent_check(id, r)
  local score = call('ZSCORE', urgent, id)
  if score and urgent_priority(tonumber(score)) == priority_of(r) then return end
  wrong = wrong + 1
  if is_repairing then ready_put(id, r, false) end
end

local function scored_check(key, id, r)
  local score = call('ZSCORE', key, id)
  if score and tonumber(score) == tonumber(r.at_ms) then return end
  wrong = wrong + 1
  if is_repairing then call('ZADD', key, r.at_ms, id) end
end

local function index_check(id, r)
  if r.state == WAITING then
    if priority_of(r) > 0 then return urgent_check(id, r) end
    more[#more + 1] = id
    more[#more + 1] = r.attempt
    more[#more + 1] = r.expires_at_ms
    return
  end
  scored_check(SCORED[r.state], id, r)
  if r.state == SCHEDULED and priority_of(r) > 0 then scored_check(scheduled_urgent, id, r) end
end

local function record_check(id, text)
  local r = strict_parse(id, text)
  records = records + 1
  if not r then put_aside(id, text) return end
  if not payload_check(id, r) then return end
  unique_check(id, r)
  index_check(id, r)
end

-- None of a queue's keys has a time to live.
local function keys_check()
  for _, key in ipairs(KEYS) do
    if call('PTTL', key) >= 0 then
      wrong = wrong + 1
      if is_repairing then call('PERSIST', key) end
    end
  end
end

-- Runs that wait again are no work while the queue is paused.
local function work_tell()
  if call('HGET', meta, 'paused') ~= '1' then wake_one() end
end

local function meta_put(field, value)
  wrong = wrong + 1
  if is_repairing then call('HSET', meta, field, value) end
end

-- Its number when the queue's salt is in the id: see core/run_id.h. Lanes other than the first are not
-- counted here.
local function number_of(id, salt)
  if #id ~= 16 then return 0 end
  local high, low, top, rest = struct.unpack('>I2I2I2I4', id, 7)
  local is_ours = (high - 28672) * 16384 + low - 32768 == salt and top < 4096
  return is_ours and top * 4294967296 + rest or 0
end

-- `number` counts on from the greatest one that was given: a smaller one would give ids twice.
local function number_check(page)
  local counted = call('HMGET', meta, 'salt', 'number')
  local salt, number = tonumber(counted[1] or nil), counted[2] or '0'
  local is_sound = is_int(number, 17592186044415)
  local most = is_sound and tonumber(number) or 0
  for at = 1, #page, 2 do most = math.max(most, number_of(page[at], salt)) end
  if not is_sound or most > tonumber(number) then meta_put('number', most) end
end

-- Without a salt the next run brings one.
local function salt_check()
  local salt = call('HGET', meta, 'salt')
  if not salt or is_int(salt, 67108863) then return end
  wrong = wrong + 1
  if is_repairing then call('HDEL', meta, 'salt') end
end

local function records_share()
  if place == '0' then
    keys_check()
    salt_check()
  end
  local page = call('HSCAN', runs, place, 'COUNT', 100)
  number_check(page[2])
  for at = 1, #page[2], 2 do record_check(page[2][at], page[2][at + 1]) end
  local is_work = #backs + #urgents > 0
  plan_write()
  if is_work then work_tell() end
  return answer(page[1])
end

-- The ready list.

-- Counted from the end, for enqueues push everything further away from there and so show some
-- entries twice, but nothing is taken away from that side: no entry slips past.
local function walk_share()
  local from = tonumber(place)
  more = call('LRANGE', ready, -(from + 1000), -(from + 1))
  local left = call('LLEN', ready) - (from + 1000)
  return answer(left > 0 and tostring(from + 1000) or '0')
end

-- A run that has waited since its record was read, by attempt and expiry, and was not met by the
-- walk in between is not in the list. Should this call be a repetition, then what the first one
-- pushed is near the end.
local function verify_share()
  local was_added = false
  for at = 5, #ARGV, 3 do
    local id = ARGV[at]
    local text = call('HGET', runs, id)
    local r = text and strict_parse(id, text)
    if r and r.state == WAITING and priority_of(r) == 0 and r.attempt == ARGV[at + 1]
      and r.expires_at_ms == ARGV[at + 2]
      and not call('LPOS', ready, id, 'RANK', -1, 'MAXLEN', 1000) then
      wrong = wrong + 1
      if is_repairing then
        call('RPUSH', ready, id)
        was_added = true
      end
    end
  end
  if was_added then work_tell() end
  return answer('0')
end

-- Indexes.

-- 'good', 'damaged' (nothing to be said before its record is put aside) or 'bad'.
local function entry_judge(id, is_good)
  local text = call('HGET', runs, id)
  if not text then return 'bad' end
  local r = strict_parse(id, text)
  if not r then return 'damaged' end
  return is_good(r) and 'good' or 'bad'
end

-- Counts and drops the entry unless it is good; entries of a run put aside go uncounted.
local function entry_check(command, key, entry, id, is_good)
  if entry_judge(id, is_good) ~= 'bad' then return end
  if not is_aside(id) then wrong = wrong + 1 end
  if is_repairing then call(command, key, entry) end
end

local function set_share(key, is_good)
  local page = call('ZSCAN', key, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    entry_check('ZREM', key, page[2][at], page[2][at], is_good)
  end
  return answer(page[1])
end

local function hash_share(key, is_good)
  local page = call('HSCAN', key, place, 'COUNT', 25)
  for at = 1, #page[2], 2 do
    entry_check('HDEL', key, page[2][at], page[2][at], is_good)
  end
  return answer(page[1])
end

local function unique_share()
  local page = call('HSCAN', unique, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    local key, id = page[2][at], page[2][at + 1]
    entry_check('HDEL', unique, key, id, function(r)
      return not IS_FINAL[r.state] and match(r.tail, TAIL_unique_key) == key
    end)
  end
  return answer(page[1])
end

-- When a field may go, nil for one that cannot be read.
local function producer_until(text)
  local last, listed, before, ms, _, _, ids = match(text, CALL_ENTRY)
  if not last or #last ~= 31 or #ids % 16 > 0 or not is_int(listed, 0) or not is_int(before, 17592186044415)
    or not is_int(ms, 0) then
    return nil
  end
  return math.max(call_until(last, ms), tonumber(listed))
end

local function key_until(text)
  local until_ms, content = match(text, KEY_ENTRY)
  return until_ms and #content == 16 and is_int(until_ms, 0) and tonumber(until_ms) or nil
end

-- What is remembered goes by its time in `times`: without one it would stay for ever.
local function memory_share(hash, times, until_of)
  local page = call('HSCAN', hash, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    local name, until_ms = page[2][at], until_of(page[2][at + 1])
    local score = until_ms and call('ZSCORE', times, name)
    if not until_ms or not score or tonumber(score) ~= until_ms then
      wrong = wrong + 1
      if is_repairing and until_ms then call('ZADD', times, until_ms, name) end
      if is_repairing and not until_ms then call('HDEL', hash, name) end
    end
  end
  return answer(page[1])
end

local function times_share(times, hash)
  local page = call('ZSCAN', times, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    if call('HEXISTS', hash, page[2][at]) == 0 then
      wrong = wrong + 1
      if is_repairing then call('ZREM', times, page[2][at]) end
    end
  end
  return answer(page[1])
end

-- A session is forgotten by `sessions_seen`: without an entry there it would stay for ever.
local function sessions_share()
  local page = call('HSCAN', sessions, place, 'COUNT', 25)
  for at = 1, #page[2], 2 do
    if not call('ZSCORE', sessions_seen, page[2][at]) then
      wrong = wrong + 1
      if is_repairing then call('ZADD', sessions_seen, now, page[2][at]) end
    end
  end
  return answer(page[1])
end

local function sessions_seen_share()
  local page = call('ZSCAN', sessions_seen, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    local name = page[2][at]
    if call('HEXISTS', find(name, '^worker:') and meta or sessions, name) == 0 then
      wrong = wrong + 1
      if is_repairing then call('ZREM', sessions_seen, name) end
    end
  end
  return answer(page[1])
end

-- Totals.

local function meta_number(field)
  return tonumber(call('HGET', meta, field) or nil) or 0
end

-- Every run is in one index, so what the others leave over waits in the list, and what the list
-- has beyond those are ghosts, doubled entries among them. True when the rest is sound.
local function ghosts_check()
  local waiting = call('HLEN', runs) - call('ZCARD', urgent)
  for _, key in pairs(SCORED) do waiting = waiting - call('ZCARD', key) end
  local ghosts = call('LLEN', ready) - waiting
  if ghosts >= 0 and ghosts ~= meta_number('ghosts') then meta_put('ghosts', ghosts) end
end

-- `back` and `front` must lie beyond every order given out, or new runs overtake older ones.
local function orders_check()
  local back, front = meta_number('back'), meta_number('front')
  local most, least = back, front
  for priority = 1, 9 do
    local base = priority * 1099511627776
    local low, high = -base - 549755813887, -base + 549755813887
    local last = call('ZREVRANGEBYSCORE', urgent, high, low, 'WITHSCORES', 'LIMIT', 0, 1)
    local first = call('ZRANGEBYSCORE', urgent, low, high, 'WITHSCORES', 'LIMIT', 0, 1)
    if last[2] then most = math.max(most, tonumber(last[2]) + base) end
    if first[2] then least = math.min(least, tonumber(first[2]) + base) end
  end
  if most > back then meta_put('back', most) end
  if least < front then meta_put('front', least) end
end

-- Says nothing of ghosts (place '1') when a report has found other things wrong: they differ then.
local function totals_share()
  if is_repairing or place == '0' then ghosts_check() end
  orders_check()
  return answer('0')
end

local function state_is(state)
  return function(r) return r.state == state end
end

local shares = {
  records = records_share, walk = walk_share, verify = verify_share, totals = totals_share,
  unique = unique_share, sessions = sessions_share, sessions_seen = sessions_seen_share,
  producers = function() return memory_share(producers, producers_until, producer_until) end,
  producers_until = function() return times_share(producers_until, producers) end,
  keys = function() return memory_share(keys, keys_until, key_until) end,
  keys_until = function() return times_share(keys_until, keys) end,
  scheduled = function() return set_share(scheduled, state_is(SCHEDULED)) end,
  scheduled_urgent = function()
    return set_share(scheduled_urgent, function(r) return r.state == SCHEDULED and priority_of(r) > 0 end)
  end,
  active = function() return set_share(active, state_is(ACTIVE)) end,
  done = function() return set_share(done, state_is(DONE)) end,
  dead = function() return set_share(dead, state_is(DEAD)) end,
  cancelled = function() return set_share(cancelled, state_is(CANCELLED)) end,
  urgent = function()
    return set_share(urgent, function(r) return r.state == WAITING and priority_of(r) > 0 end)
  end,
  payloads = function() return hash_share(payloads, function(r) return r.state ~= DONE end) end,
  results = function() return hash_share(results, state_is(DONE)) end,
  errors = function() return hash_share(errors, function() return true end) end,
  progress = function() return hash_share(progress, function() return true end) end,
}
return layout_check() or shares[share]()
