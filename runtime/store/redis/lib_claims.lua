-- store/redis/lib_claims.lua - which ready runs a STEP grants.
--
-- Runs are looked at where they lie and leave their index only when all is written.

local decided, ghosts_met = {}, 0
local urgent_used, urgent_count, ready_used = 0, 0, 0
local is_enough, bytes = false, 0
-- The claim ended where somebody who was parked may come before those that follow: it begins anew.
local is_again, again_left = false, 64
local claim_text = version_text .. '|' .. NEXT[WAITING .. '_CLAIM'] .. '|1|' .. session .. '|' .. lease_text
  .. '|' .. now_text .. '|'
local start_text, ahead_text = claim_text .. '1|', claim_text .. '0|'
local claim_puts, claim_leases, progress_drops = {}, {}, {}
local asides = {} -- id, bytes of a damaged record; leaves a ghost, if it lies in the list

local PAYLOAD_TOO_LONG = 'damaged in the store: the payload is longer than ' .. PAYLOAD_BYTES_MAX .. ' bytes'

local claim, claim_renew, claim_is_again, needs_hand_on
do
-- Ends a run that will not be granted any more.
local function refuse(id, r, reason)
  decided[id] = true
  plan_put('text_puts', id, reason)
  finish(id, r, NEXT[WAITING .. '_EXPIRE'], keep_until(r, now, TAIL_keep_failure_ms))
  forget_at(r.at_ms)
  plan_put('record_puts', id, record_text(r))
end

-- Those with a record: each in the reply behind so many bodies of the line.
local record_count = 0

-- `due`: since when it waited for its turn, where that is not its enqueue.
local function grant(id, text, attempt, payload, due)
  local pair, quad, put = record_count * 2, record_count * 4, #claim_puts
  granted.count, record_count = granted.count + 1, record_count + 1
  decided[id] = true
  claim_puts[put + 1] = id
  claim_puts[put + 2] = text
  claim_leases[put + 1] = lease_text
  claim_leases[put + 2] = id
  granted.memo[pair + 1] = id
  granted.memo[pair + 2] = attempt .. #take.bodies .. ';'
  granted.list[quad + 1] = due and #take.bodies .. ',' .. due or #take.bodies
  granted.list[quad + 2] = id
  granted.list[quad + 3] = text
  granted.list[quad + 4] = payload
end

-- False, and the claim ends, when one more payload would be too much.
local function is_room(payload)
  if granted.count > 0 then
    if bytes + #payload > max_bytes then is_enough = true return false end
    bytes = bytes + #payload
  end
  return true
end

-- A suspect is granted alone, and like everything whose holder has vanished only to a free handler.
local function must_wait(r, is_suspected)
  return is_suspected and granted.count > 0 or (is_suspected or r.started == '1') and granted.count >= starts
end

-- Those of urgent are looked at, where all that have a unique key stand.
local is_ranked = false

local function begin_again(is_called)
  if is_called and again_left > 0 then is_enough, is_again = true, true end
end

-- Whether a limit of the run has no room: it stands aside.
local function hold(id, r)
  local is_held, is_called = place_hold(id, r)
  if is_held then decided[id] = true end
  begin_again(is_called)
  if is_held and parks_left <= 0 then is_enough, is_again, counted.is_cut = true, false, true end
  return is_held
end

-- Whether the run stands where it was met: `needs` is the gate of what it needs, nil for the ready order.
local function is_met(id, r, needs, is_list)
  local behind = tonumber(r.behind)
  if r.state ~= WAITING or decided[id] or is_list and not is_listed(r) then return false end
  local own = r.behind ~= '0' and gates_of(r)
  if not needs then return behind < 2 end
  return own and own[behind - 1] == needs
end

-- A run that may be anything, looked at in full.
local function candidate_parsed(id, text, payload, is_list, needs)
  local r = record_parse(text)
  if not r and not decided[id] then
    decided[id] = true
    asides[#asides + 1], asides[#asides + 2] = id, text
  end
  if not r or not is_met(id, r, needs, is_list) then
    ghosts_met = ghosts_met + 1
    return true
  end
  if not payload then refuse(id, r, 'the payload is missing') return true end
  if #payload > PAYLOAD_BYTES_MAX then refuse(id, r, PAYLOAD_TOO_LONG) return true end
  local expires = tonumber(r.expires_at_ms)
  if expires ~= 0 and now >= expires then
    granted.expired = granted.expired + 1
    local has_failed = r.failures + r.crashes + r.losses > 0
    refuse(id, r, has_failed and late_text(call('HGET', errors, id) or '') or 'expired')
    return true
  end
  if r.behind ~= '0' and hold(id, r) then return true end
  local is_suspected = is_suspect(r)
  if is_suspected and in_company then granted.passed = granted.passed + 1 return nil end
  if must_wait(r, is_suspected) then is_enough, granted.is_held = true, true return false end
  if not is_room(payload) then return false end
  if r.attempt ~= '0' then progress_drops[#progress_drops + 1] = id end
  r.state, r.attempt = NEXT[WAITING .. '_CLAIM'], r.attempt + 1
  local due = tonumber(r.at_ms) > 0 and r.at_ms or nil
  r.owner, r.at_ms, r.timeout_from_ms = session, lease_text, now_text
  r.started = granted.count < starts and 1 or 0
  if is_ranked then unique_claim(id, r, now) end
  if r.behind ~= '0' then
    begin_again(place_grant(id, gates_of(r)))
    r.behind = '1' -- it may have been parked behind what it needs
  end
  grant(id, record_text(r), r.attempt .. ',', payload, due)
  if is_suspected then is_enough, is_again = true, false end
  return true
end

-- How the record ends that was looked at last, from behind its unique key, which is the same for most; and the gates of
-- such runs, false where a claim may have to do with their keys.
local end_seen, end_gates = '||', false

-- The gates of a run that never began; nil when it has to be looked at in full. A claim has nothing to do with a key
-- that waiting and working keep, or only time.
local function fresh_gates(text, has_limits)
  if sub(text, -#end_seen) ~= end_seen then
    local at, states, names = match(text, RECORD_END, #RECORD_FRESH + 1)
    if not at then return nil end
    end_seen, end_gates = sub(text, at), (states == '0' or states == '6' or states == '7') and gates_named(names)
  end
  local list = end_gates
  return list and #list > 0 == has_limits and not place_lacks(list) and list or nil
end

-- The record of one that came due by its time as it would be without that; and the instant, nil for all others.
local function fresh_of(text)
  local due, rest = match(text, RECORD_DUE)
  if not due then return text end
  return RECORD_NOT_DUE .. sub(text, rest), due
end

-- True when `id` is dealt with, false when it and all after it must stay, nil when it alone must.
local function candidate(id, text, payload, is_list)
  if not text then ghosts_met = ghosts_met + 1 return true end
  -- Most runs were never granted and never expire: only the beginning of their records changes.
  local stored, due, list = text, nil, nil
  if not is_list then text, due = fresh_of(text) end
  local begins = sub(text, 1, #RECORD_FRESH)
  local has_limits = begins == RECORD_LIMITED
  local is_plain = (has_limits or begins == RECORD_FRESH) and payload and not decided[id]
    and #payload <= PAYLOAD_BYTES_MAX and #text <= RECORD_BYTES_MAX
  if is_plain and (has_limits or is_ranked and sub(text, -#RECORD_UNKEYED) ~= RECORD_UNKEYED) then
    list = fresh_gates(text, has_limits)
    is_plain = list
  end
  if not is_plain then return candidate_parsed(id, stored, payload, is_list) end
  if not is_room(payload) then return false end
  if has_limits then begin_again(place_grant(id, list)) end
  grant(id, (granted.count < starts and start_text or ahead_text) .. sub(text, FRESH_REST), '1,', payload, due)
  return true
end

-- Decides on some runs of one index, `is_list` when it is the list; returns how many of them, and notes which of these stay.
local function candidates(ids, kept, is_list)
  local texts, wires = call('HMGET', runs, unpack(ids)), call('HMGET', payloads, unpack(ids))
  for at = 1, #ids do
    if is_enough or granted.count >= want then return at - 1 end
    local is_leaving = candidate(ids[at], texts[at], wires[at], is_list)
    if is_leaving == false then return at - 1 end
    if not is_leaving then kept[ids[at]] = true end
  end
  return #ids
end

-- What needs something, by the gates of what the worker offers.

-- Runs that need the same: their gate, its needs, and a page of those that wait there.
local function needs_open(name)
  local text, needs = string.match(name, '^needs ([^=]*)=$'), {}
  for what, units in string.gmatch(text or '', '([^,:]+):(%d+)') do
    if not offers[what] then return nil end
    needs[what] = tonumber(units)
  end
  return next(needs) and {gate = gate_open(name), name = name, needs = needs, page = {}, at = 1, last = '[P' .. name .. '\0'}
end

-- All of them where somebody waits: by the first name of what is needed, as it stands in `slots`.
local function needs_all()
  local list = {}
  for what in pairs(offers) do
    local from, behind = '[Pneeds ' .. what .. ':', '(Pneeds ' .. what .. ';'
    for _ = 1, NEEDS_LOOK_MAX do
      local member = call('ZRANGEBYLEX', slots, from, behind, 'LIMIT', 0, 1)[1]
      local name = member and match(member, '^P([^%z]*)')
      if not name then break end
      list[#list + 1] = needs_open(name)
      from = '(P' .. name .. '\1'
    end
  end
  return list
end

local function needs_fit(n)
  for what, units in pairs(n.needs) do
    if offers[what] < units then return false end
  end
  return true
end

local function needs_take(n)
  for what, units in pairs(n.needs) do offers[what] = offers[what] - units end
end

-- The next of those that wait there, nil for none, and its score.
local function needs_next(n)
  if n.at > #n.page then
    local head = 'P' .. n.name
    n.page = call('ZRANGEBYLEX', slots, n.last, '(' .. head .. '\1', 'LIMIT', 0, 16)
    n.at = 1
  end
  local member = n.page[n.at]
  if not member then return nil end
  local _, score = parked_parse(n.name, member)
  return member, score
end

-- Where the one stands that is next of all that fit.
local function needs_best(list)
  local best, best_score, best_id
  for _, n in ipairs(list) do
    local member, score = needs_next(n)
    if member and not needs_fit(n) then
      granted.is_short = true
    elseif member and (not best or score < best_score or score == best_score and sub(member, -16) < best_id) then
      best, best_score, best_id = n, score, sub(member, -16)
    end
  end
  return best
end

-- What is met there and does not wait there leaves no ghost: its entry goes.
local function needs_decide(n)
  local member = n.page[n.at]
  local id, count, ghosts_before = sub(member, -16), granted.count, ghosts_met
  local text = call('HGET', runs, id)
  is_ranked = true
  local is_leaving = text and candidate_parsed(id, text, call('HGET', payloads, id), false, n.gate)
  is_ranked = false
  if ghosts_met > ghosts_before or not text then
    slot_marks[member], n.gate.is_first_gone, is_limited = false, true, true
    gate_touch(n.gate)
    ghosts_met = ghosts_before
  end
  if is_leaving == false then return false end
  n.at, n.last = n.at + 1, '(' .. member
  if granted.count > count then
    needs_take(n)
    n.gate.is_rung = true
  end
  return true
end

-- Returns whether it gave up before it was satisfied.
local function claim_needs()
  if not offers or not limits_noted then return false end
  local list, looked = needs_all(), 0
  granted.is_short = false
  while not is_enough and granted.count < want do
    local n = needs_best(list)
    if not n then break end
    if looked >= want + 256 then return true end
    looked = looked + 1
    if not needs_decide(n) then break end
  end
  return false
end

-- Who is full, or on its way out, may have taken the token that others wait for.
function needs_hand_on()
  for _, n in ipairs(needs_all()) do needs_wake(n.gate, true) end
end

-- Some of urgent, the next ones: what is met there that does not wait is no ghost.
local function urgent_decide(ids)
  local kept, ghosts_before = {}, ghosts_met
  is_ranked = true
  local used = candidates(ids, kept)
  is_ranked = false
  for at = 1, used do
    if not kept[ids[at]] then plan_add('urgent_drops', ids[at]) end
  end
  urgent_used = urgent_used + used
  ghosts_met = ghosts_before
  return #ids
end

-- Those with a priority and those that came back have scores below zero, and go before all others.
local function claim_urgent(most)
  local ids = call('ZRANGEBYSCORE', urgent, '-inf', '(0', 'LIMIT', urgent_used, most)
  return #ids > 0 and urgent_decide(ids) or 0
end

-- The others of urgent are dated: they stand by the instant at which they became ready, and take turns with
-- the list and the line, whose runs tell when they were enqueued. A page of them:
local dated, dates, dated_used = {}, {}, 0

-- The instant of the next one; nil when there is none.
local function dated_next()
  if dated_used == #dated and urgent_used < urgent_count then
    local page = call('ZRANGE', urgent, urgent_used, urgent_used + 31, 'WITHSCORES')
    dated, dates, dated_used = {}, {}, 0
    for at = 1, #page, 2 do dated[#dated + 1], dates[#dates + 1] = page[at], tonumber(page[at + 1]) end
    if #dated == 0 then urgent_count = urgent_used end
  end
  return dates[dated_used + 1]
end

-- Whether what was enqueued at `ms` lets a dated run of the instant `date` go first. A date that is still to come is
-- of a clock that was set back since, and of no use: all that is enqueued until then would overtake such a run.
local function is_behind(ms, date)
  return ms >= date or date > now
end

-- Those of the page that go before what was enqueued at `before`; it is nil when nobody else waits. Of one instant
-- they are the first: their ids are older.
local function claim_dated(before)
  local ids, first = {}, dated_used
  while dates[first + #ids + 1] and (not before or is_behind(before, dates[first + #ids + 1])) do
    ids[#ids + 1] = dated[first + #ids + 1]
  end
  dated_used = first + #ids
  return urgent_decide(ids)
end

-- When a run of the list was enqueued, by its id (core/run_id.h), or came to it.
local function entry_ms(entry)
  local came = find(entry, '@', 17, true)
  if came then return tonumber(sub(entry, came + 1)) or 0 end
  if #entry < 16 then return 0 end
  local high, low = unpack_text('>I2I4', entry)
  return high * 4294967296 + low
end

-- One that cannot be granted becomes a run with a record.
local function line_refuse(number, body)
  local o = ordinary_of(number, body)
  if not o then return end
  counted.waiting = counted.waiting - 1
  if not o.head then body_aside(o) return end
  refuse(o.id, ordinary_adopt(o), PAYLOAD_TOO_LONG)
end

-- How long its head is, nil when that cannot be read. Those of one job are alike but for their times:
-- `common` is all behind that.
local function line_head(body)
  local head, at = body_head(body)
  if not head then return nil end
  take.common = sub(body, find(body, '|', 1, true), at - 1)
  local keep, timeout = match(head, '^%d+|(%d+)|(%d+)|')
  if take.keep and (take.keep ~= keep or take.timeout ~= timeout) then keep, timeout = '', '' end
  take.keep, take.timeout = keep, timeout
  return at - 1
end

-- True when the number is dealt with, false when it must stay.
local function line_candidate(number, body)
  local keep, timeout = take.keep, take.timeout
  local head_len = body and line_head(body)
  local payload_len = head_len and #body - head_len
  if not head_len or payload_len > PAYLOAD_BYTES_MAX then
    if body then line_refuse(number, body) end
    if take.first then
      take.chars[#take.chars + 1] = '-'
      take.bodies[#take.bodies + 1] = false
    end
    return true
  end
  if granted.count > 0 then
    if bytes + payload_len > max_bytes then
      is_enough, take.keep, take.timeout = true, keep, timeout
      return false
    end
    bytes = bytes + payload_len
  end
  if payload_len > BODY_LONG_BYTES then take.long = '1' end
  take.first = take.first or number
  take.chars[#take.chars + 1] = granted.count < starts and '1' or '0'
  take.bodies[#take.bodies + 1] = body
  take.count = take.count + 1
  granted.count = granted.count + 1
  return true
end

-- What was read and comes behind a dated run, by number: it is not read once more.
local ahead = {}

-- Bodies from `first` on, and how many.
local function line_read(first, wanted)
  local texts = {}
  while #texts < wanted and ahead[first + #texts] ~= nil do texts[#texts + 1] = ahead[first + #texts] end
  if #texts > 0 then return texts, #texts end
  local numbers = {}
  for at = 1, wanted do numbers[at] = first + at - 1 end
  return call('HMGET', bodies, unpack(numbers)), wanted
end

-- How many of the `wanted` come before a dated run of that instant, and when the next one was enqueued.
local function line_cut(first, texts, wanted, date)
  for at = 1, wanted do
    local ms = texts[at] and body_ms(texts[at])
    if ms and is_behind(ms, date) then
      for rest = at, wanted do ahead[first + rest - 1] = texts[rest] end
      return at - 1, ms
    end
  end
  return wanted
end

-- Looks at some numbers of the line, up to `last` and to the first that was enqueued at `date` or later, if there is one;
-- returns how many, and when that one was.
local function claim_line(most, last, date)
  local first = line.taken + counted.looked + 1
  local wanted = math.min(most, last - first + 1)
  if wanted <= 0 then return 0 end
  local texts, chars, granted_bodies, stop_ms = nil, take.chars, take.bodies, nil
  texts, wanted = line_read(first, wanted)
  if date then wanted, stop_ms = line_cut(first, texts, wanted, date) end
  for at = 1, wanted do
    local body, common = texts[at], take.common
    local bar = body and take.first and find(body, '|', 1, true)
    local size = bar and sub(body, bar, bar + #common - 1) == common and #body - bar - #common + 1
    -- Most are like those before them; only the others are looked at in full.
    if size and size <= BODY_LONG_BYTES and bytes + size <= max_bytes then
      local count_before = granted.count
      chars[#chars + 1] = count_before < starts and '1' or '0'
      granted_bodies[#granted_bodies + 1] = body
      if count_before > 0 then bytes = bytes + size end
      take.count, granted.count = take.count + 1, count_before + 1
    elseif not line_candidate(first + at - 1, body) then
      counted.looked = counted.looked + at - 1
      return at - 1
    end
  end
  counted.looked = counted.looked + wanted
  return wanted, stop_ms
end

-- A claim that was stopped in its middle left a block behind what meta says is taken. When its session
-- remembers it, it counts; otherwise nobody was told of it, and this claim takes its place.
local function line_mend()
  if call('HEXISTS', blocks, line.taken + 1) == 0 then return end
  local b = block_load(tostring(line.taken + 1))
  local told = b and call('HGET', sessions, b.owner)
  if not told or not find(told, '|#' .. b.name .. ';', 1, true) then return end
  local _, held = string.gsub(b.chars, '[01]', '')
  local _, kept = string.gsub(b.chars, '%a', '')
  call('ZADD', spans, b.first, b.name)
  if held > 0 then call('ZADD', block_leases, 'NX', now + math.max(lease, longest or 0), b.name) end
  line.taken = line.taken + #b.chars
  call('HSET', meta, 'taken', line.taken, 'held', counted.held + held, 'kept', counted.kept + kept)
  counted.held, counted.kept = counted.held + held, counted.kept + kept
  counted.waiting = math.max(counted.waiting - held - kept, 0)
end

local DOUBT_BLOCKS, DOUBT_NUMBERS = 32, 256

-- How many runs are held, as the blocks themselves tell; nil when these are many.
local function held_recount()
  if call('ZCARD', block_leases) > DOUBT_BLOCKS then return nil end
  local held = 0
  for _, name in ipairs(call('ZRANGE', block_leases, 0, DOUBT_BLOCKS)) do
    local first = tonumber(name)
    local b = first and first <= line.taken and block_load(name)
    if b then held = held + select(2, string.gsub(b.chars, '[01]', '')) end
  end
  return held
end

-- How many bodies are met first among the next `most` numbers.
local function bodies_ahead(most)
  local met = 0
  for from = 1, most, 32 do
    local numbers = {}
    for at = from, math.min(from + 31, most) do numbers[#numbers + 1] = line.taken + at end
    for _, body in ipairs(call('HMGET', bodies, unpack(numbers))) do met = body and met + 1 or met end
    if met > 0 then break end
  end
  return met
end

local function counts_mend(held, kept)
  call('HSET', meta, 'held', held, 'kept', kept)
  counted.held, counted.kept = held, kept
  counted.waiting = math.max(counted.bodies - held - kept, 0)
end

-- By the counts nothing waits on the line, and yet it is not at its end. Mostly holes are left, which are passed at
-- once; but where damage has made a count too high, those that wait would be passed with them. So the blocks are
-- asked, and the next numbers.
local function line_doubt()
  local left = counted.last - line.taken
  if left <= 0 then return end
  local held = counted.bodies > 0 and held_recount()
  if held and held < counted.held then counts_mend(held, counted.kept) end
  if counted.waiting > 0 then return end
  local met = counted.bodies > 0 and bodies_ahead(math.min(left, DOUBT_NUMBERS)) or 0
  if met > 0 then
    local rest = counted.bodies - met
    held = math.min(counted.held, rest)
    counts_mend(held, rest - held)
    counted.is_cut = true
  else
    counted.looked = held == nil and math.min(left, DOUBT_NUMBERS) or left
  end
end

-- Entries of `ready` up to the first that comes behind a number of the line that is not taken yet, and
-- that number; or behind a dated run of the instant `date`, and when that entry was enqueued.
local function ready_page(most, date)
  local entries = call('LRANGE', ready, ready_used, ready_used + most - 1)
  local taken, ids = line.taken + counted.looked, {}
  for at, entry in ipairs(entries) do
    local behind = tonumber(sub(entry, 17)) or tonumber(match(entry, '^%d+', 17)) or 0
    if behind > taken and counted.waiting > take.count and taken < counted.last then
      return ids, entries, math.min(behind, counted.last)
    end
    if date and is_behind(entry_ms(entry), date) then return ids, entries, nil, entry_ms(entry) end
    ids[at] = sub(entry, 1, 16)
  end
  return ids, entries, #entries < most and counted.last or nil
end

-- Returns how many entries and numbers were looked at, and whether all that waits has been.
local function claim_ready(most)
  local date = dated_next()
  local ids, entries, last, before = ready_page(most, date)
  if #ids > 0 then
    -- No suspect is among them, which would keep its place: it has been granted before.
    ready_used = ready_used + candidates(ids, {}, true)
    return #ids, false
  end
  local looked = 0
  if last and counted.waiting > take.count then looked, before = claim_line(most, last, date) end
  if looked > 0 or not date then return looked, looked == 0 end
  looked = claim_dated(before)
  return looked, looked == 0
end

-- What was decided so far leaves its index, and who may come in does.
function claim_renew()
  if #claim_puts > 0 then
    records_write()
    step_remember()
  end
  decided_drop()
  claim_puts, claim_leases, asides, progress_drops, ghosts_met = {}, {}, {}, {}, 0
  urgent_used, ready_used = 0, 0
  dated, dates, dated_used = {}, {}, 0
  decided, is_enough, is_again, again_left = {}, false, false, again_left - 1
  place_admit()
end

-- Whether the claim begins anew: by its own word, or because it came to its end and has made room for others.
function claim_is_again()
  return is_again or not is_enough and granted.count < want and again_left > 0 and place_calls()
end

-- The rest of urgent, then ready and the line. True when it gave up before it was satisfied, which
-- ghosts, holes and expired runs may cause.
function claim()
  local looked, is_over = 0, false
  line_mend()
  if counted.waiting == 0 then line_doubt() end
  if claim_needs() then return true end
  urgent_count = call('ZCARD', urgent)
  while urgent_used < urgent_count do
    local most = math.min(want - granted.count, 32)
    if is_enough or most <= 0 then return false end
    if looked >= want + 256 then return looked > granted.passed end
    local met = claim_urgent(most)
    looked = looked + met
    if met < most then break end
  end
  repeat
    local most = math.min(want - granted.count, 32)
    if is_enough or most <= 0 then return false end
    if looked >= want + 256 then return looked > granted.passed end
    local met
    met, is_over = claim_ready(most)
    looked = looked + met
  until is_over
  return false
end

end

-- What is granted, before it is told: records, and the block of what was taken off the line.
local function records_write()
  lease_note()
  if is_limited then places_open() end
  write('ZADD', active, claim_leases)
  write('HSET', runs, claim_puts)
end

local function grants_write()
  records_write()
  if not take.first then return end
  local chars = string.gsub(table.concat(take.chars), '%-+$', '')
  local name = tostring(take.first)
  call('HSET', blocks, name, session .. '|' .. now_text .. '|' .. take.keep .. '|' .. take.timeout .. '|' .. take.long
    .. '|' .. chars .. '|')
  call('ZADD', spans, name, name)
  call('ZADD', block_leases, lease_text, name)
end

local function taken_write()
  if counted.looked <= 0 then return end
  counted.held, counted.waiting = counted.held + take.count, counted.waiting - take.count
  line.taken = line.taken + counted.looked
  call('HSET', meta, 'taken', line.taken, 'held', counted.held)
end

-- Cuts off what was looked at in front.
local function ready_drop()
  if ready_used > 0 then call('LPOP', ready, ready_used) end
end

-- What was decided upon leaves its index.
local function decided_drop()
  for at = 1, #asides, 2 do aside_put(asides[at], asides[at + 1]) end
  plan_write()
  ready_drop()
  write('HDEL', progress, progress_drops)
  if ghosts_met > 0 then ghosts = call('HINCRBY', meta, 'ghosts', -ghosts_met) end
end

local function claimed_drop()
  taken_write()
  decided_drop()
end

-- Of a block that is still ours: what it still holds.
local function remembered_block(name)
  local b = block_load(name)
  if not b or b.owner ~= session then return end
  local numbers = {}
  for place = 1, #b.chars do numbers[place] = b.first + place - 1 end
  local texts = read(bodies, numbers)
  take.first, take.since = b.first, tonumber(b.since)
  for place = 1, #b.chars do
    local is_held = find(b.chars, '^[01]', place) and texts[place] and take.count < want
      and #texts[place] <= PAYLOAD_BYTES_MAX + BODY_HEAD_BYTES_MAX
    take.bodies[place] = is_held and texts[place] or false
    if is_held then take.count = take.count + 1 end
  end
end

local function remembered_grants(list)
  local ids, attempts, places = {}, {}, {}
  local name, at = match(list, '^#(%d+);()')
  if name then remembered_block(name) end
  for id, attempt, place in string.gmatch(sub(list, at or 1), '(................)(%d+),(%d+);') do
    if #ids + take.count == want then break end
    ids[#ids + 1] = id
    attempts[#attempts + 1] = attempt
    places[#places + 1] = tonumber(place)
  end
  local texts, payload_texts = read(runs, ids), read(payloads, ids)
  for at, id in ipairs(ids) do
    local r, payload = texts[at] and record_parse(texts[at]), payload_texts[at]
    if r and payload and #payload <= PAYLOAD_BYTES_MAX and holds(r, attempts[at]) then
      for _, item in ipairs({math.min(places[at], #take.bodies) .. ',0', id, texts[at], payload}) do granted.list[#granted.list + 1] = item end
    end
  end
end
