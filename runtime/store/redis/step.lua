-- keys: runs payloads ready urgent scheduled scheduled_urgent active done cancelled dead errors results progress unique meta wake sessions sessions_seen seen0 seen1 seen2 seen3 seen4 seen5 damaged
-- uses: base seen plan wake aside
--
-- The fused operation of a worker: acks, beats, upkeep, claims. store/store.h is the contract.
-- ARGV: now session nonce want max_bytes lease_ms ack_count beat_count starts in_company,
--       per ack:  id 'EVENT|attempt|delay_ms|has_blob' blob; '|progress' behind it when there is some
--       per beat: id 'attempt|extend_ms|started|progress', '' for no progress; started: 2 for excused
-- Reply: now due_in_ms flags acks beats, then per grant: id record payload
-- Flags: 1 paused, 2 empty, 4 held, 8 replaced, 16 passed, 32 for each expired run

local session, nonce = ARGV[2], ARGV[3]
local want, max_bytes, lease = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local ack_count, beat_count = tonumber(ARGV[7]), tonumber(ARGV[8])
local starts, in_company = tonumber(ARGV[9]), ARGV[10] == '1'
local now = clock()

local sub, find = string.sub, string.find

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

-- Successes that are kept for no time leave no record behind.
local forgotten = {}

local function done_forget(id, key)
  forgotten[#forgotten + 1] = id
  lease_drops[#lease_drops + 1] = id
  payload_drops[#payload_drops + 1] = id
  unique_release(id, key)
  count('done', 1)
end

local function ack_settle(id, r, order, blob)
  local event, attempt, delay, has_blob, words = string.match(order, '^(%u+)|(%d+)|(%-?%d+)|([01])|?(.*)$')
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
  if event == 'LOSS' then count('lost', 1) end
  if event == 'DONE' and string.match(r.tail, TAIL_keep_success_ms) == '0' then
    done_forget(id, string.match(r.tail, TAIL_unique_key))
    return 'O'
  end
  if has_blob == '1' then put(event == 'DONE' and result_puts or text_puts, id, blob) end
  if words ~= '' then call('HSET', progress, id, words) end
  leave(id, r, event, tonumber(delay), now, event == 'LOSS' and 1 or 0)
  return 'O'
end

-- Plain successes of the holder, which are most of what happens: what leave() would do, without
-- taking records apart. An attempt's records all begin alike while we hold them, and all
-- begin alike when they are done and kept for the same time.
-- (Lua knows 200 locals in a script: what only one part needs stands in a block of its own.)
local done_settle, dones_write
do
local helds, ended, ended_records, ended_scores, ended_count = {}, {}, {}, {}, 0

local function held_make(attempt)
  local before = version_text .. '|' .. ACTIVE .. '|' .. attempt .. '|' .. session .. '|'
  local held = {before = before, len = #before, dones = {}, untils = {}}
  helds[attempt] = held
  return held
end

local function done_make(held, attempt, keep)
  local until_text = text_of(now + tonumber(keep))
  local done_text = version_text .. '|' .. NEXT[ACTIVE .. '_DONE'] .. '|' .. attempt .. '|' .. session .. '|'
    .. until_text .. '|0|0|'
  held.dones[keep], held.untils[keep] = done_text, until_text
  return done_text
end

function done_settle(id, text, attempt)
  local held = helds[attempt] or held_make(attempt)
  local len = held.len
  if sub(text, 1, len) ~= held.before then return false end
  local _, _, rest, keep, key = find(text, RECORD_HELD, len + 1)
  if not rest then return false end
  if keep == '0' then done_forget(id, key) return true end
  local done_text = held.dones[keep] or done_make(held, attempt, keep)
  local pair = ended_count * 2
  ended_count = ended_count + 1
  ended[ended_count] = id
  ended_records[pair + 1] = id
  ended_records[pair + 2] = done_text .. sub(text, rest)
  ended_scores[pair + 1] = held.untils[keep]
  ended_scores[pair + 2] = id
  if key ~= '' then unique_release(id, key) end
  return true
end

function dones_write()
  if ended_count == 0 then return end
  write('HSET', runs, ended_records)
  write('ZADD', done, ended_scores)
  write('ZREM', active, ended)
  write('HDEL', payloads, ended)
  count('done', ended_count)
end
end

local function fields_drop(key, ids)
  if call('HLEN', key) > 0 then write('HDEL', key, ids) end
end

-- What is kept beside the records of done runs and their payloads.
local function runs_forget(ids)
  remember(ids, now)
  write('HDEL', runs, ids)
  fields_drop(errors, ids)
  fields_drop(progress, ids)
end

-- The second result: whether an end was recorded that its run's record does not show to be this one.
local function acks_settle()
  if ack_count == 0 then return '', false end
  local is_veiled = false
  local ids, answers, plain = {}, {}, {}
  for at = 1, ack_count do ids[at] = ARGV[8 + at * 3] end
  local texts = read(runs, ids)
  for at = 1, ack_count do
    local base, id, text = 8 + at * 3, ids[at], texts[at]
    local order = ARGV[base + 1]
    local attempt = plain[order]
    if attempt == nil then
      attempt = string.match(order, '^DONE|(%d+)|0|0$') or false
      plain[order] = attempt
    end
    if attempt and text and done_settle(id, text, attempt) then
      answers[at] = 'O'
    else
      answers[at] = ack_settle(id, text and record_parse(text), order, ARGV[base + 2])
      is_veiled = is_veiled or answers[at] == 'O' and sub(order, 1, 4) ~= 'DONE'
    end
  end
  dones_write()
  if #forgotten > 0 then runs_forget(forgotten) end
  plan_write()
  return table.concat(answers), is_veiled
end

-- The longest lease that was given in this queue; nil when none was. Known before it is given.
local longest

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
  if words ~= '' then put(progress_puts, id, words) end
  put(lease_puts, r.at_ms, id)
  put(record_puts, id, record_text(r))
  return r.cancel == '1' and 'C' or 'O'
end

function beats_extend()
  if beat_count == 0 then return '' end
  local first, ids, answers, records = 11 + ack_count * 3, {}, {}, {}
  for at = 1, beat_count do ids[at] = ARGV[first + at * 2 - 2] end
  local texts = read(runs, ids)
  for at = 1, beat_count do
    -- A run that is named twice goes on from what its first beat made of it.
    local r = records[ids[at]] or texts[at] and record_parse(texts[at])
    records[ids[at]] = r
    answers[at] = beat_extend(ids[at], r, ARGV[first + at * 2 - 1])
  end
  if #lease_puts > 0 then lease_note() end
  write('HSET', progress, progress_puts)
  plan_write()
  return table.concat(answers)
end
end

-- The first entry's score of a sorted set, nil when it is empty.
local function head(key)
  local entry = call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return entry[2] and tonumber(entry[2])
end

local reap, leases_cut
do
-- The entry of `active` leads to a run that is not: `r` is nil when its record cannot be read.
local function lease_skip(id, text, r)
  lease_drops[#lease_drops + 1] = id
  if text and not r then aside_put(id, text) end
end

function reap()
  local ids = call('ZRANGEBYSCORE', active, '-inf', now, 'LIMIT', 0, REAP_MAX)
  local texts = read(runs, ids)
  -- Most go to the front: the first one last, so that it is first again.
  for at = #ids, 1, -1 do
    local id = ids[at]
    local r = texts[at] and record_parse(texts[at])
    if r and r.state == ACTIVE then
      vanish(id, r, 'the lease of ' .. r.owner .. '-' .. r.attempt .. ' ran out', now)
    else
      lease_skip(id, texts[at], r)
    end
  end
  plan_write()
end

-- A lease from before the clock was set back would keep its run from others for the length of the
-- jump. Its holder, if it lives, beats before the new end. Looked for once in LEASE_LOOK_MS, which is
-- enough: in less time no clock goes back by more than the leases are granted.
function leases_cut(looked)
  if not longest or looked and now >= looked and now - looked < LEASE_LOOK_MS then return end
  local ids = call('ZRANGEBYSCORE', active, now + longest + LEASE_LOOK_MS + 1, '+inf', 'LIMIT', 0, REAP_MAX)
  local texts = read(runs, ids)
  for at, id in ipairs(ids) do
    local r = texts[at] and record_parse(texts[at])
    if r and r.state == ACTIVE then
      r.at_ms = now + longest
      put(lease_puts, r.at_ms, id)
      put(record_puts, id, record_text(r))
    else
      lease_skip(id, texts[at], r)
    end
  end
  plan_write()
  call('HSET', meta, 'looked', #ids < REAP_MAX and now or 0)
end
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

-- The earlier of two instants that may be nil.
local function sooner(a, b)
  return a and b and math.min(a, b) or a or b
end

-- When what is kept of ended runs wants the next step.
local forget

local function forget_at(at)
  forget = sooner(forget, at > now and math.max(at, now + FORGET_GAP_MS) or at)
end

-- Forgets runs of one final state whose time is over, more than this step may have added.
local function purge(key)
  local first = head(key)
  if first and first <= now then
    local ids = call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, PURGE_MAX + ack_count)
    runs_forget(ids)
    fields_drop(key == done and results or payloads, ids)
    -- They are the first ones of the set.
    call('ZREMRANGEBYRANK', key, 0, #ids - 1)
    first = head(key)
  end
  if first then forget_at(first) end
end

local sessions_purge
do
-- The names of workers stand among their sessions: a worker says it once and may live for days.
local function worker_purge(mark)
  local its = call('HGET', meta, mark)
  if its and call('HEXISTS', sessions, its) == 1 then
    call('ZADD', sessions_seen, now, mark)
    return
  end
  call('HDEL', meta, mark)
  call('ZREM', sessions_seen, mark)
end

function sessions_purge()
  local old = call('ZRANGEBYSCORE', sessions_seen, '-inf', now - SESSION_TTL_MS, 'LIMIT', 0, PURGE_MAX)
  local quiet, marks = {}, {}
  for _, name in ipairs(old) do
    local list = sub(name, 1, 7) == 'worker:' and marks or quiet
    list[#list + 1] = name
  end
  write('HDEL', sessions, quiet)
  write('ZREM', sessions_seen, quiet)
  for _, mark in ipairs(marks) do worker_purge(mark) end
end
end

-- Claims. Runs are looked at where they lie and leave their index only when all is written.

local grants, memo, decided, ghosts_met = {}, {}, {}, 0
local ghosts -- as meta counts them, once facts are read
local urgent_used, ready_used, ready_kept = 0, 0, {}
local grant_count, is_enough, bytes = 0, false, 0
local passed_count = 0 -- suspects that stayed, for they want no company
-- What the reply tells beside. Held: a run that only a free handler may get ended the claim.
-- (One table: Lua has room for 200 locals.)
local news = {expired = 0, is_held = false, is_replaced = false}
local claim_text = version_text .. '|' .. NEXT[WAITING .. '_CLAIM'] .. '|1|' .. session .. '|' .. lease_text
  .. '|' .. now_text .. '|'
local start_text, ahead_text = claim_text .. '1|', claim_text .. '0|'
local claim_puts, claim_leases, progress_drops = {}, {}, {}
local asides = {} -- id, bytes of a damaged record; leaves a ghost, if it lies in the list

local PAYLOAD_TOO_LONG = 'damaged in the store: the payload is longer than ' .. PAYLOAD_BYTES_MAX .. ' bytes'

-- Ends a run that will not be granted any more.
local function refuse(id, r, reason)
  decided[id] = true
  put(text_puts, id, reason)
  finish(id, r, NEXT[WAITING .. '_EXPIRE'], keep_until(r, now, TAIL_keep_failure_ms))
  forget_at(r.at_ms)
  put(record_puts, id, record_text(r))
end

local function grant(id, text, attempt, payload)
  local pair, triple = grant_count * 2, grant_count * 3
  grant_count = grant_count + 1
  decided[id] = true
  claim_puts[pair + 1] = id
  claim_puts[pair + 2] = text
  claim_leases[pair + 1] = lease_text
  claim_leases[pair + 2] = id
  memo[pair + 1] = id
  memo[pair + 2] = attempt
  grants[triple + 1] = id
  grants[triple + 2] = text
  grants[triple + 3] = payload
end

-- False, and the claim ends, when one more payload would be too much.
local function is_room(payload)
  if grant_count > 0 then
    if bytes + #payload > max_bytes then is_enough = true return false end
    bytes = bytes + #payload
  end
  return true
end

-- A suspect is granted alone, and like everything whose holder has vanished only to a free handler.
local function must_wait(r, is_suspected)
  return is_suspected and grant_count > 0 or (is_suspected or r.started == '1') and grant_count >= starts
end

-- A run that may be anything, looked at in full.
local function candidate_parsed(id, text, payload)
  local r = record_parse(text)
  if not r and not decided[id] then
    decided[id] = true
    put(asides, id, text)
  end
  if not r or r.state ~= WAITING or decided[id] then ghosts_met = ghosts_met + 1 return true end
  if not payload then refuse(id, r, 'the payload is missing') return true end
  if #payload > PAYLOAD_BYTES_MAX then refuse(id, r, PAYLOAD_TOO_LONG) return true end
  local expires = tonumber(r.expires_at_ms)
  if r.attempt == '0' and expires ~= 0 and now >= expires then
    news.expired = news.expired + 1
    refuse(id, r, 'expired')
    return true
  end
  local is_suspected = is_suspect(r)
  if is_suspected and in_company then passed_count = passed_count + 1 return nil end
  if must_wait(r, is_suspected) then is_enough, news.is_held = true, true return false end
  if not is_room(payload) then return false end
  if r.attempt ~= '0' then progress_drops[#progress_drops + 1] = id end
  r.state, r.attempt = NEXT[WAITING .. '_CLAIM'], r.attempt + 1
  r.owner, r.at_ms, r.timeout_from_ms = session, lease_text, now_text
  r.started = grant_count < starts and 1 or 0
  grant(id, record_text(r), r.attempt .. ';', payload)
  if is_suspected then is_enough = true end
  return true
end

-- True when `id` is dealt with, false when it and all after it must stay, nil when it alone must.
local function candidate(id, text, payload)
  if not text then ghosts_met = ghosts_met + 1 return true end
  -- Most runs never began and never expire: only the beginning of their records changes.
  if sub(text, 1, #RECORD_FRESH) ~= RECORD_FRESH or not payload or decided[id]
    or #payload > PAYLOAD_BYTES_MAX or #text > RECORD_BYTES_MAX then
    return candidate_parsed(id, text, payload)
  end
  if not is_room(payload) then return false end
  grant(id, (grant_count < starts and start_text or ahead_text) .. sub(text, FRESH_REST), '1;', payload)
  return true
end

-- Decides on some runs of one index; returns how many of them, and notes which of these stay.
local function candidates(ids, kept)
  local texts, bodies = call('HMGET', runs, unpack(ids)), call('HMGET', payloads, unpack(ids))
  for at = 1, #ids do
    if is_enough or grant_count >= want then return at - 1 end
    local is_leaving = candidate(ids[at], texts[at], bodies[at])
    if is_leaving == false then return at - 1 end
    if not is_leaving then kept[ids[at]] = true end
  end
  return #ids
end

local function claim_urgent(most)
  local ids = call('ZRANGE', urgent, urgent_used, urgent_used + most - 1)
  if #ids == 0 then return 0 end
  local kept = {}
  local used = candidates(ids, kept)
  for at = 1, used do
    if not kept[ids[at]] then urgent_drops[#urgent_drops + 1] = ids[at] end
  end
  urgent_used = urgent_used + used
  ghosts_met = 0
  return #ids
end

local function claim_ready(most)
  local ids = call('LRANGE', ready, ready_used, ready_used + most - 1)
  if #ids == 0 then return 0 end
  local kept = {}
  local used = candidates(ids, kept)
  if passed_count > 0 then
    for at = 1, used do
      if kept[ids[at]] then ready_kept[#ready_kept + 1] = ids[at] end
    end
  end
  ready_used = ready_used + used
  return #ids
end

-- True when it gave up before it was satisfied, which ghosts and expired runs may cause.
local function claim()
  local looked = 0
  for _, from in ipairs({claim_urgent, claim_ready}) do
    repeat
      local most = math.min(want - grant_count, 32)
      if is_enough or most <= 0 then return false end
      if looked >= want + 256 then return looked > passed_count end
      local met = from(most)
      looked = looked + met
    until met < most
  end
  return false
end

-- Cuts off what was looked at in front, but for what stays: that moves to the end of this part, the
-- last one first, so that at no time one of them is missing.
local function ready_drop()
  local leaving = ready_used - #ready_kept
  if leaving == 0 then return end
  for at = #ready_kept, 1, -1 do call('LSET', ready, leaving + at - 1, ready_kept[at]) end
  call('LPOP', ready, leaving)
end

-- What was decided upon leaves its index.
local function claimed_drop()
  for at = 1, #asides, 2 do aside_put(asides[at], asides[at + 1]) end
  plan_write()
  ready_drop()
  write('HDEL', progress, progress_drops)
  if ghosts_met > 0 then ghosts = call('HINCRBY', meta, 'ghosts', -ghosts_met) end
end

local function remembered_grants(list)
  local ids, attempts = {}, {}
  for id, attempt in string.gmatch(list, '(................)(%d+);') do
    if #ids == want then break end
    ids[#ids + 1] = id
    attempts[#attempts + 1] = attempt
  end
  local texts, bodies = read(runs, ids), read(payloads, ids)
  for at, id in ipairs(ids) do
    local r = texts[at] and record_parse(texts[at])
    if r and bodies[at] and #bodies[at] <= PAYLOAD_BYTES_MAX and holds(r, attempts[at]) then
      put(grants, id, texts[at])
      grants[#grants + 1] = bodies[at]
    end
  end
end

local function reply(is_paused, due, is_empty, acks, beats)
  local flags = (is_paused and 1 or 0) + (is_empty and 2 or 0) + (news.is_held and 4 or 0)
    + (news.is_replaced and 8 or 0) + (passed_count > 0 and 16 or 0) + 32 * news.expired
  return {now, due, flags, acks, beats, unpack(grants)}
end

-- When something of this queue comes due; -1 for never.
local function due_in(first)
  return first and math.max(first - now, 0) or -1
end

local function waiting_count()
  return math.max(call('LLEN', ready) - math.max(tonumber(ghosts or 0), 0), 0) + call('ZCARD', urgent)
end

local facts = call('HMGET', meta, 'paused', 'slot', 'ghosts', 'lease', 'looked')
local is_paused = facts[1] == '1'
ghosts, longest = facts[3], tonumber(facts[4] or nil)
local last = call('HGET', sessions, session)
local last_nonce, last_seen
if last then last_nonce, last_seen = string.match(last, '^(%x+)|(%d+)|') end

-- What is said when nothing is done.
local function reply_unchanged(acks, beats)
  local due, lease_end = head(scheduled), head(active)
  return reply(is_paused, due_in(sooner(due, lease_end)),
    not due and not lease_end and waiting_count() == 0, acks, beats)
end

-- Hex without leading zeros: the longer one is greater.
local function is_older(a, b)
  return #a < #b or #a == #b and a < b
end

-- Sent before the session's last step, from a connection that was closed since: grants would reach
-- nobody, and what it says has been said again.
if last_nonce and is_older(nonce, last_nonce) then
  news.is_replaced = #last_nonce > 16
  return reply_unchanged(string.rep('S', ack_count), string.rep('S', beat_count))
end

if last_nonce == nonce then
  local last_acks, last_beats, last_grants = string.match(last, '^%x+|%d+|(%u*)|(%u*)|(.*)$')
  remembered_grants(last_grants)
  return reply_unchanged(last_acks, last_beats)
end

-- The server refuses a script under memory pressure only when its first write is one that
-- may need memory. This one does nothing, so acks and beats pass.
call('ZREM', active, '')
slots_turn(facts[2], now)

local acks, is_veiled = acks_settle()
local beats = beats_extend()
local is_seen = last_seen and now - last_seen <= 60000 and now >= tonumber(last_seen)

local function step_remember()
  if not is_seen then
    -- Longer than it may hold a run without a word: its name must lead to it.
    call('ZADD', sessions_seen, now + math.max(lease + 60000 - SESSION_TTL_MS, 0), session)
    last_seen = now
  end
  call('HSET', sessions, session,
    nonce .. '|' .. last_seen .. '|' .. acks .. '|' .. beats .. '|' .. table.concat(memo))
end

-- Should what follows be refused, the same step comes again and must not find its acks stale. (A
-- success that is kept is known from its record.)
if is_veiled then step_remember() end
leases_cut(tonumber(facts[5] or nil))
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
if not is_seen then sessions_purge() end

-- The step is remembered before entries leave for its grants: should that be refused, the same step
-- gets them when it comes again.
local is_claiming = want > 0 and not is_paused
local is_cut = is_claiming and claim()
if grant_count > 0 then lease_note() end
write('ZADD', active, claim_leases)
write('HSET', runs, claim_puts)
step_remember()
if is_claiming then claimed_drop() end
if grant_count > 0 then lease_end = lease_end and math.min(lease_end, now + lease) or now + lease end

local waiting = waiting_count()
-- A token for suspects that stay would come back to us at once.
if waiting > 0 and not is_paused and (grant_count > 0 or passed_count == 0) then wake_one() end

return reply(is_paused, is_cut and 0 or due_in(sooner(forget, sooner(due, lease_end))),
  not due and not lease_end and waiting == 0, acks, beats)
