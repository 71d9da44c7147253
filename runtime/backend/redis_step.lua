-- keys: runs payloads ready urgent scheduled active done cancelled dead errors results unique meta wake sessions sessions_seen seen0 seen1 seen2 seen3 seen4 seen5
-- uses: base seen plan wake
--
-- The fused operation of a worker: acks, beats, upkeep, claims. backend.h is the contract.
-- ARGV: now session nonce want max_bytes lease_ms ack_count beat_count,
--       per ack:  id 'EVENT|attempt|delay_ms|has_blob' blob
--       per beat: id attempt
-- Reply: now due_in_ms flags acks beats, then per grant: id record payload

local session, nonce = ARGV[2], ARGV[3]
local want, max_bytes, lease = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local ack_count, beat_count = tonumber(ARGV[7]), tonumber(ARGV[8])
local now = clock()
local is_freed = false

-- Making a number's text is slow, and a batch needs the same few again and again.
local texts_of = {}
local function text_of(number)
  local text = texts_of[number]
  if not text then
    text = tostring(number)
    texts_of[number] = text
  end
  return text
end
local now_text, lease_text, version_text = text_of(now), text_of(now + lease), text_of(RECORD_VERSION)

local function holds(r, attempt)
  return r.state == ACTIVE and r.attempt == attempt and r.owner == session
end

local function ack_settle(id, r, order, blob)
  local event, attempt, delay, has_blob = string.match(order, '^(%u+)|(%d+)|(%-?%d+)|([01])$')
  if not r then return 'G' end
  if not holds(r, attempt) then
    if event == 'DONE' and r.state == DONE and r.attempt == attempt and r.owner == session then
      return 'R'
    end
    count('stale', 1)
    return 'S'
  end
  if event == 'FAIL' or event == 'DISCARD' then count('failed', 1) end
  if event == 'CRASH' then count('crashed', 1) end
  if has_blob == '1' then put(event == 'DONE' and result_puts or text_puts, id, blob) end
  leave(id, r, event, tonumber(delay), now, lease)
  if r.state == WAITING then is_freed = true end
  return 'O'
end

-- A plain success of the holder: what leave() would do, without taking the record apart.
local function done_settle(id, text, attempt)
  local state, held, counters, _, owner, cancel, tail = string.match(text, RECORD_HOT)
  if state ~= ACTIVE or held ~= attempt or owner ~= session then return false end
  local keep = tonumber(string.match(tail, TAIL_keep_success_ms))
  local until_text = text_of(now + math.max(keep, lease))
  lease_drops[#lease_drops + 1] = id
  payload_drops[#payload_drops + 1] = id
  finals[#finals + 1] = id
  put(done_puts, until_text, id)
  put(record_puts, id, version_text .. '|' .. NEXT[ACTIVE .. '_DONE'] .. '|' .. held .. '|' .. counters
    .. '|' .. owner .. '|' .. cancel .. '|' .. until_text .. '|0|' .. tail)
  if not string.find(tail, '||', 1, true) then unique_release(id, tail) end
  return true
end

local function acks_settle()
  if ack_count == 0 then return '' end
  local ids, answers, done_count = {}, {}, 0
  for at = 1, ack_count do ids[at] = ARGV[6 + at * 3] end
  local texts = read(runs, ids)
  for at = 1, ack_count do
    local base, text = 6 + at * 3, texts[at]
    local order = ARGV[base + 1]
    local attempt = string.match(order, '^DONE|(%d+)|0|0$')
    if attempt and text and done_settle(ids[at], text, attempt) then
      answers[at] = 'O'
      done_count = done_count + 1
    else
      answers[at] = ack_settle(ids[at], text and record_parse(text), order, ARGV[base + 2])
    end
  end
  if done_count > 0 then count('done', done_count) end
  plan_write(now)
  return table.concat(answers)
end

local function beat_extend(id, r, attempt)
  if not r then return 'G' end
  if not holds(r, attempt) then
    count('stale', 1)
    return 'S'
  end
  local timeout = tonumber(string.match(r.tail, TAIL_timeout_ms))
  r.at_ms = now + lease
  if timeout > 0 then r.at_ms = math.min(r.at_ms, r.claimed_at_ms + timeout) end
  put(lease_puts, r.at_ms, id)
  put(record_puts, id, record_text(r))
  return r.cancel == '1' and 'C' or 'O'
end

local function beats_extend()
  if beat_count == 0 then return '' end
  local first, ids, answers = 9 + ack_count * 3, {}, {}
  for at = 1, beat_count do ids[at] = ARGV[first + at * 2 - 2] end
  local texts = read(runs, ids)
  for at = 1, beat_count do
    answers[at] = beat_extend(ids[at], texts[at] and record_parse(texts[at]), ARGV[first + at * 2 - 1])
  end
  plan_write(now)
  return table.concat(answers)
end

-- The first entry's score of a sorted set, nil when it is empty.
local function head(key)
  local entry = call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return entry[2] and tonumber(entry[2])
end

local function reap()
  local ids = call('ZRANGEBYSCORE', active, '-inf', now, 'LIMIT', 0, REAP_MAX)
  local texts = read(runs, ids)
  -- Each goes to the front: the first one last, so that it is first again.
  for at = #ids, 1, -1 do
    local id = ids[at]
    local r = texts[at] and record_parse(texts[at])
    if r and r.state == ACTIVE then
      count('lost', 1)
      leave(id, r, 'LOSS', 0, now, lease)
      if r.state == WAITING then is_freed = true end
    else
      lease_drops[#lease_drops + 1] = id
      if texts[at] and not r then quarantine(id, now, 'damaged record') end
    end
  end
  plan_write(now)
end

local function promote()
  local ids = call('ZRANGEBYSCORE', scheduled, '-inf', now, 'LIMIT', 0, PROMOTE_MAX)
  local texts = read(runs, ids)
  for at, id in ipairs(ids) do
    local r = texts[at] and record_parse(texts[at])
    due_drops[#due_drops + 1] = id
    if r and r.state == SCHEDULED then
      r.state, r.at_ms = NEXT[SCHEDULED .. '_DUE'], 0
      put(record_puts, id, record_text(r))
      ready_put(id, r, false)
      is_freed = true
    elseif texts[at] and not r then
      quarantine(id, now, 'damaged record')
    end
  end
  plan_write(now)
end

local function purge(key)
  local ids = call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, PURGE_MAX)
  if #ids == 0 then return end
  call('ZREM', key, unpack(ids))
  call('HDEL', runs, unpack(ids))
  call('HDEL', errors, unpack(ids))
  if key == done then call('HDEL', results, unpack(ids)) end
  if key ~= done then call('HDEL', payloads, unpack(ids)) end
end

local function sessions_purge()
  local old = call('ZRANGEBYSCORE', sessions_seen, '-inf', now - SESSION_TTL_MS, 'LIMIT', 0, PURGE_MAX)
  if #old == 0 then return end
  call('ZREM', sessions_seen, unpack(old))
  call('HDEL', sessions, unpack(old))
end

-- Claims. Runs are looked at where they lie and leave their index only when decided upon.

local grants, memo, ghosts_met = {}, {}, 0
local is_enough, bytes = false, 0

-- Ends a run that will not be granted any more.
local function refuse(id, text, reason)
  local r = record_parse(text)
  put(text_puts, id, reason)
  finish(id, r, NEXT[WAITING .. '_EXPIRE'], keep_until(r, now, TAIL_keep_failure_ms))
  put(record_puts, id, record_text(r))
end

local function is_expired(attempt, tail)
  if attempt ~= '0' then return false end
  local expires = string.match(tail, TAIL_expires_at_ms)
  return expires ~= '0' and now >= tonumber(expires)
end

-- True when `id` is dealt with, false when it and all after it must stay.
local function candidate(id, text, payload)
  if not text then ghosts_met = ghosts_met + 1 return true end
  local state, attempt, counters, losses, _, cancel, tail = string.match(text, RECORD_HOT)
  if not state then quarantine(id, now, 'damaged record') return true end
  if state ~= WAITING or memo[id] then ghosts_met = ghosts_met + 1 return true end
  if not payload then refuse(id, text, 'the payload is missing') return true end
  if is_expired(attempt, tail) then refuse(id, text, 'expired') return true end
  local is_suspect = losses ~= '0' and tonumber(losses) >= SUSPECT_LOSSES
  if #memo > 0 then
    if is_suspect or bytes + #payload > max_bytes then is_enough = true return false end
    bytes = bytes + #payload
  end
  attempt = text_of(attempt + 1)
  text = version_text .. '|' .. NEXT[WAITING .. '_CLAIM'] .. '|' .. attempt .. '|' .. counters .. '|' .. session
    .. '|' .. cancel .. '|' .. lease_text .. '|' .. now_text .. '|' .. tail
  put(record_puts, id, text)
  put(lease_puts, lease_text, id)
  memo[id] = true
  memo[#memo + 1] = id .. attempt .. ';'
  put(grants, id, text)
  grants[#grants + 1] = payload
  if is_suspect then is_enough = true end
  return true
end

-- Decides on some runs of one index; returns how many of them leave it.
local function candidates(ids)
  local texts, bodies = call('HMGET', runs, unpack(ids)), call('HMGET', payloads, unpack(ids))
  for at, id in ipairs(ids) do
    if is_enough or #memo >= want or not candidate(id, texts[at], bodies[at]) then return at - 1 end
  end
  return #ids
end

local function claim_urgent(most)
  local ids = call('ZRANGE', urgent, 0, most - 1)
  if #ids == 0 then return 0 end
  local used = candidates(ids)
  if used > 0 then call('ZREM', urgent, unpack(ids, 1, used)) end
  return #ids
end

local function claim_ready(most)
  local ids = call('LRANGE', ready, 0, most - 1)
  if #ids == 0 then return 0 end
  ghosts_met = 0
  local used = candidates(ids)
  if used > 0 then call('LPOP', ready, used) end
  if ghosts_met > 0 then call('HINCRBY', meta, 'ghosts', -ghosts_met) end
  return #ids
end

-- True when it gave up before it was satisfied, which ghosts and expired runs may cause.
local function claim()
  local looked = 0
  for _, from in ipairs({claim_urgent, claim_ready}) do
    repeat
      local most = math.min(want - #memo, 32)
      if is_enough or most <= 0 then return false end
      if looked >= want + 256 then return true end
      local met = from(most)
      looked = looked + met
    until met < most
  end
  return false
end

local function remembered_grants(list)
  local ids, attempts = {}, {}
  for id, attempt in string.gmatch(list, '(................)(%d+);') do
    ids[#ids + 1] = id
    attempts[#attempts + 1] = attempt
  end
  local texts, bodies = read(runs, ids), read(payloads, ids)
  for at, id in ipairs(ids) do
    local r = texts[at] and record_parse(texts[at])
    if r and bodies[at] and holds(r, attempts[at]) then
      put(grants, id, texts[at])
      grants[#grants + 1] = bodies[at]
    end
  end
end

local function reply(is_paused, due, is_empty, acks, beats)
  local flags = (is_paused and 1 or 0) + (is_empty and 2 or 0)
  return {now, due, flags, acks, beats, unpack(grants)}
end

-- When something of this queue comes due, of two instants that may be nil; -1 for never.
local function due_in(a, b)
  local first = a and b and math.min(a, b) or a or b
  return first and math.max(first - now, 0) or -1
end

local function waiting_count(ghosts)
  return math.max(call('LLEN', ready) - math.max(tonumber(ghosts or 0), 0), 0) + call('ZCARD', urgent)
end

local facts = call('HMGET', meta, 'paused', 'slot', 'ghosts')
local is_paused = facts[1] == '1'
local last = call('HGET', sessions, session)
local last_nonce, last_seen, last_acks, last_beats, last_grants
if last then
  last_nonce, last_seen, last_acks, last_beats, last_grants =
    string.match(last, '^(%x+)|(%d+)|(%u*)|(%u*)|(.*)$')
end

if last_nonce == nonce then
  remembered_grants(last_grants)
  local due, lease_end = head(scheduled), head(active)
  return reply(is_paused, due_in(due, lease_end),
    not due and not lease_end and waiting_count(facts[3]) == 0, last_acks, last_beats)
end

-- The server refuses a script under memory pressure only when its first write is one that
-- may need memory. This one does nothing, so acks and beats pass.
call('ZREM', active, '')
slots_turn(facts[2], now)

local acks = acks_settle()
local beats = beats_extend()
local lease_end = head(active)
if lease_end and lease_end <= now then
  reap()
  lease_end = head(active)
end
local due = head(scheduled)
if due and due <= now then
  promote()
  due = head(scheduled)
end
purge(done)
purge(dead)
purge(cancelled)

local is_cut = false
if want > 0 and not is_paused then
  is_cut = claim()
  plan_write(now)
  if #memo > 0 then lease_end = lease_end and math.min(lease_end, now + lease) or now + lease end
end

-- ghosts may have changed since they were read; the list's own end settles the doubt.
local waiting = waiting_count(call('HGET', meta, 'ghosts'))
if waiting > 0 and not is_paused and (want > 0 or is_freed) then wake_one() end

if not last_seen or now - last_seen > 60000 or now < tonumber(last_seen) then
  sessions_purge()
  call('ZADD', sessions_seen, now, session)
  last_seen = now
end
call('HSET', sessions, session,
  nonce .. '|' .. last_seen .. '|' .. acks .. '|' .. beats .. '|' .. table.concat(memo))
return reply(is_paused, is_cut and 0 or due_in(due, lease_end),
  not due and not lease_end and waiting == 0, acks, beats)
