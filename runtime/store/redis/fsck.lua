-- store/redis/fsck.lua - compares what is derived from the records with them, and repairs it.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active done cancelled dead errors results progress logs unique unique_until meta wake sessions sessions_seen producers producers_until keys keys_until damaged bodies blocks spans block_leases block_ends schedules limits limited slots buckets refills follow_ups waits waits_until batches batches_until metadata figures figures_rows figures_calls schemas schema_texts schemas_told events
-- uses: base lines events layout unique paused plan slots parking bodies blocks wake aside memory schedules waits batches batch_ends follow_up metadata figures schemas
-- level: repairs
--
-- A call looks at one share of the queue, ARGV[2], from place ARGV[3] on, and repairs what disagrees
-- with the runs when ARGV[4] is '1'. Nothing is written otherwise. A call is bounded: about
-- 100 entries of a hash or a set (25 where the values may be large, 10 blocks), 1000 of the ready list.
-- Hashes and sets that Redis packs into one block come whole; they are as small.
-- ARGV[5] is '1' for a report that has found something wrong: then what follows from that is not told.
--
--   blocks         every block: whether it can be read, and its entries in the indexes of blocks
--   spans          entries of that index against the blocks; so block_leases and block_ends
--   chars          what each block says, against the bodies and the block behind it; places are numbers
--   numbers        `line` and `taken`, when they cannot be true
--   bodies         every body against its block and the records
--   counts         ARGV[7..10]: held, kept, greatest and first waiting number, as the last three told
--   records        every record against the index, payload and unique key that it wants
--   walk           entries of the ready list, counted from its end
--   verify         ARGV[7..]: id, attempt, expiry of runs that waited and were not met by the walk
--   NAME           entries of that index against their records
--   totals         the counts that can be told from other counts
--
-- Reply: next place ('0' at the end), records, wrong, damaged; then for records: id, attempt,
-- expiry of the runs that must be in the ready list; for walk: entries; for chars, numbers and bodies:
-- runs held and kept, the greatest number, the first that waits (0 for none), and a mark of the line as
-- it was left, which comes back as ARGV[6]; for counts and batch_counts: 1 when they were left out, else 0.
--
-- Fields are read in one call and written in the same, so a run that moves between calls is met
-- in its old or new place. HSCAN and its kin show what stays in a collection during a whole
-- scan; an entry that comes and goes was put there by a script, which put it right.

local share, place, is_repairing, is_doubtful = ARGV[2], ARGV[3], ARGV[4] == '1', ARGV[5] == '1'
local now = clock()
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

local function limit_names(r)
  local names = {}
  for name in gmatch(match(r.tail, TAIL_limits), '[^;]+') do names[#names + 1] = name end
  return names
end

-- It may be behind a limit that it has, and no run without limits is.
local function limits_are_strict(r)
  local names, behind, text = limit_names(r), tonumber(r.behind), match(r.tail, TAIL_limits)
  for _, name in ipairs(names) do
    if not find(name, '^[^=]+=') then return false end
  end
  return table.concat(names, ';') == text and (#names > 0) == (behind > 0) and behind <= #names + 1
end

local function strict_parse(id, text)
  local r = #id == 16 and text and is_strict(text) and record_parse(text)
  return r and limits_are_strict(r) and r or nil
end

local ANY_ID = string.rep('x', 16)

-- The head of a body that is like this, and where its payload begins; nil for another.
local function body_strict(body)
  local head, at = body_head(body)
  if head and strict_parse(ANY_ID, RECORD_FRESH .. head .. BODY_REST) then return head, at end
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
    if is_repairing then plan_put('text_puts', id, LACKS) end
    return r.state
  end
  spoilt = spoilt + 1
  if not is_repairing then return r.state end
  index_leave(id, r)
  r.timeout_from_ms = 0
  plan_put('text_puts', id, LACKS)
  finish(id, r, DEAD, keep_until(r, now, TAIL_keep_failure_ms))
  plan_put('record_puts', id, record_text(r))
  return nil
end

-- Whether nobody else can have taken its key since it came: not while it was in another state, or over, and no
-- clock was set back.
local function is_certain(r, states, until_text)
  local is_kept = states == '7' or states == '3' and r.attempt == '0'
  return is_kept and not IS_FINAL[r.state] and until_text == '0' and r.expires_at_ms == '0'
end

-- When two live runs claim one key, the one that holds it keeps it and the other loses its claim. Keys that are
-- kept for a time are known by their entries alone.
local function unique_check(id, r)
  local key, states, until_text = match(r.tail, TAIL_UNIQUE)
  if key == '' or not is_certain(r, states, until_text) or unique_entry(key) == id then return end
  wrong = wrong + 1
  if not is_repairing then return end
  if not unique_holder(key, now) then
    unique_set(key, id)
    return
  end
  local _, stop = find(r.tail, TAIL_unique_key)
  r.tail = sub(r.tail, 1, stop - 1 - #key) .. sub(r.tail, stop)
  call('HSET', runs, id, record_text(r))
end

-- Priority and order share a score: score = order - priority * 2^44.
local function urgent_priority(score)
  return math.floor((8796093022208 - score) / 17592186044416)
end

-- At the back of those of its priority.
local function urgent_put(id, r)
  plan_put('urgents', now - priority_of(r) * 17592186044416, id)
end

-- Whether it is in the set, as it should be then. Those without a priority may be in the list instead.
local function urgent_check(id, r)
  local score, priority = call('ZSCORE', urgent, id), priority_of(r)
  if not score and priority == 0 and is_listed(r) then return false end
  if score and urgent_priority(tonumber(score)) == priority then return true end
  wrong = wrong + 1
  if is_repairing then urgent_put(id, r) end
  return true
end

-- Limits.

-- A gate where something was missing is looked at. What follows from a lost score of the run is not told.
local missing = {}
local function slot_check(member, name, follows)
  if missing[member] or call('ZSCORE', slots, member) then return end
  missing[member] = true
  if not follows then wrong = wrong + 1 end
  if not is_repairing then return end
  call('HSET', meta, 'limits', now)
  call('ZADD', refills, now, name)
  call('ZADD', slots, 0, member)
end

-- The run's score, and whether it was lost.
local function limited_check(id, r)
  local score = call('ZSCORE', limited, id)
  if score then return tonumber(score), false end
  score = now - priority_of(r) * 17592186044416
  wrong = wrong + 1
  if is_repairing then call('ZADD', limited, score, id) end
  return score, true
end

local function kind_of(name)
  return limit_of(match(name, '^[^=]*')).kind
end

-- What `slots` has of a run, and of which gate or part; nil: nothing. `score` is that of one that waits.
local function slot_members(id, r, score)
  local names, members, parked, turn = limit_names(r), {}, nil, nil
  if r.behind == '0' or r.state ~= WAITING and r.state ~= ACTIVE then return members end
  parked = r.state == WAITING and names[r.behind - 1]
  local needs, is_apart = score and needs_among(names[#names] or ''), parked and gate_is_named_needs(parked)
  for _, name in ipairs(names) do turn = turn or not is_apart and kind_of(name) == 'F' and match(name, '=(.*)$') end
  for _, name in ipairs(names) do
    local part = part_name(name, needs)
    local head = part .. '\0'
    if name == parked then
      members['P' .. head .. parked_rank(score, turn or NO_TURN) .. place_text(score) .. id] = part
    elseif parked and not is_apart then
      if kind_of(name) == 'F' then members['H' .. head .. id] = part end
    else
      members[(score and 'W' or 'A') .. head .. (score and place_text(score) or '') .. id] = part
    end
  end
  return members, parked ~= nil and parked ~= false
end

local function gate_of_part(part)
  return match(part, '^[^' .. PART .. ']*')
end

-- Its entries of limits. Whether it is parked.
local function limits_check(id, r)
  local score, is_lost
  if r.behind ~= '0' and r.state == WAITING then score, is_lost = limited_check(id, r) end
  local members, is_parked = slot_members(id, r, score)
  for member, part in pairs(members) do
    local name = gate_of_part(part)
    slot_check(member, part, is_lost)
    if part ~= name then slot_check('N' .. part, part) end
    slot_check('K' .. name, name)
  end
  return is_parked
end

local function scored_check(key, id, r)
  local score = call('ZSCORE', key, id)
  if score and tonumber(score) == tonumber(r.at_ms) then return end
  wrong = wrong + 1
  if is_repairing then call('ZADD', key, r.at_ms, id) end
end

local function index_check(id, r)
  if limits_check(id, r) then return end
  if r.state == WAITING then
    if urgent_check(id, r) then return end
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
  if not is_paused_at(call('HGET', meta, 'paused'), now) then wake_one() end
end

local function meta_put(field, value)
  wrong = wrong + 1
  if is_repairing then call('HSET', meta, field, value) end
end

local NUMBER_MAX = 17592186044415

-- A field of meta as a number, nil when it cannot be one; 0 when there is none.
local function meta_count(text)
  if not text then return 0 end
  return is_int(text, NUMBER_MAX) and tonumber(text) or nil
end

-- The lane and the number of an id that has the queue's salt: see core/run_id.h.
local function id_read(id, salt)
  if #id ~= 16 then return nil end
  local high, low, top, rest = struct.unpack('>I2I2I2I4', id, 7)
  if (high - 28672) * 16384 + low - 32768 ~= salt then return nil end
  return floor(top / 4096), top % 4096 * 4294967296 + rest
end

-- `number` and `line` count on from the greatest one that was given: a smaller one would give ids twice.
local function number_check(field, most)
  local number = meta_count(call('HGET', meta, field))
  if not number or most > number then meta_put(field, most) end
end

local function numbers_check(page)
  local salt, most = tonumber(call('HGET', meta, 'salt') or nil), {[0] = 0, [1] = 0}
  for at = 1, #page, 2 do
    local lane, number = id_read(page[at], salt)
    if most[lane] then most[lane] = math.max(most[lane], number) end
  end
  number_check('number', most[0])
  number_check('line', most[1])
end

local function is_salt(text)
  return text and is_int(text, 67108863)
end

-- Without a salt the next run brings one; an open queue has it twice. Returns what it is then.
local function salt_check(salt, open)
  if is_salt(salt) or not salt and not open then return salt end
  wrong = wrong + 1
  if is_repairing and open then call('HSET', meta, 'salt', open) end
  if is_repairing and not open then call('HDEL', meta, 'salt') end
  return open
end

-- What is called open has to be.
local function layout_mark_check()
  local facts = call('HMGET', meta, 'layout', 'salt', 'limit', 'paused')
  local layout, open = facts[1] or LAYOUT, match(facts[1] or '', OPEN)
  if not is_salt(open) then open = nil end
  local salt = salt_check(facts[2], open)
  if layout == LAYOUT or open and open == salt and not facts[3] and not facts[4] then return end
  wrong = wrong + 1
  if is_repairing then call('HSET', meta, 'layout', LAYOUT) end
end

local function records_share()
  if place == '0' then
    keys_check()
    layout_mark_check()
  end
  local page = call('HSCAN', runs, place, 'COUNT', 100)
  numbers_check(page[2])
  for at = 1, #page[2], 2 do record_check(page[2][at], page[2][at + 1]) end
  local is_work = plan.urgents
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
-- walk in between is not in the list. Should this call be a repetition, then the first one has put it
-- into the set.
local function verify_share()
  for at = 7, #ARGV, 3 do
    local id = ARGV[at]
    local text = call('HGET', runs, id)
    local r = text and strict_parse(id, text)
    if r and r.state == WAITING and priority_of(r) == 0 and tonumber(r.behind) < 2 and r.attempt == ARGV[at + 1]
      and r.expires_at_ms == ARGV[at + 2] and not call('ZSCORE', urgent, id) then
      wrong = wrong + 1
      if is_repairing then urgent_put(id, r) end
    end
  end
  local is_work = plan.urgents ~= nil
  plan_write()
  if is_work then work_tell() end
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

-- Log lines. A chunk that its run's head does not know is nobody's, unless it has gone with what it followed.
local function log_chunk_check(id, field)
  local first, last = log_head(call('HGET', logs, id))
  local number = tonumber(match(sub(field, 17), '^[1-9]%d*$'))
  if first and number and number >= first and number <= last or call('HEXISTS', logs, field) == 0 then return end
  wrong = wrong + 1
  if is_repairing then call('HDEL', logs, field) end
end

-- What a head should say, by the chunks that are there: lines before one that is lost, or is not whole, are lost with
-- it. '' where there are none. Returns the number of the first chunk too.
local function log_head_make(first, last, shown, chunks)
  local from, count, bytes = first, 0, 0
  for at = 1, last - first + 1 do
    local chunk = chunks[at]
    if chunk and sub(chunk, -1) == '\n' then
      count, bytes = count + lines_count(chunk), bytes + #chunk
    else
      from, count, bytes = first + at, 0, 0
    end
  end
  if from > last then return '', from end
  return string.format('%d|%d|%d|%d|%d', from, last, count, bytes, math.min(shown, count)), from
end

local function log_head_check(id, text)
  local first, last, _, _, shown = log_head(text)
  local right, from = '', nil
  if first then right, from = log_head_make(first, last, shown, read(logs, log_chunks(id, first, last, {}))) end
  if right == text then return end
  wrong = wrong + 1
  if not is_repairing then return end
  if from then write('HDEL', logs, log_chunks(id, first, from - 1, {})) end
  if right == '' then call('HDEL', logs, id) else call('HSET', logs, id, right) end
end

local function log_field_check(field, text)
  local id = sub(field, 1, 16)
  local judged = entry_judge(id, function() return true end)
  if judged == 'bad' then
    entry_check('HDEL', logs, field, id, function() return true end)
  elseif judged == 'good' then
    if field == id then log_head_check(id, text) else log_chunk_check(id, field) end
  end
end

local function logs_share()
  local page = call('HSCAN', logs, place, 'COUNT', 25)
  for at = 1, #page[2], 2 do log_field_check(page[2][at], page[2][at + 1]) end
  return answer(page[1])
end

-- One that is kept for a time has its end in the set, and no run needs to be there.
local function window_check(key, until_text)
  if is_int(until_text, 0) then
    local score = call('ZSCORE', unique_until, key)
    if score and tonumber(score) == tonumber(until_text) then return end
    wrong = wrong + 1
    if is_repairing then call('ZADD', unique_until, until_text, key) end
    return
  end
  wrong = wrong + 1
  if is_repairing then call('HDEL', unique, key) end
end

-- The gate of an entry of `slots`.
local function slot_gate(member)
  return match(member, '^.([^%z]*)%z') or ''
end

-- What the entry of `slots` says of a run.
local function slot_is_good(member, r, id)
  local score = r.state == WAITING and call('ZSCORE', limited, id)
  if r.state == WAITING and not score then return false end
  return slot_members(id, r, score and tonumber(score))[member]
end

-- Who was the last to come in, as long as others are parked.
local function turn_check(member)
  local name = slot_gate(member)
  if is_doubtful or gate_first(name) and gate_turned(name) == member then return end
  wrong = wrong + 1
  if is_repairing then call('ZREM', slots, member) end
end

-- Whether it is said that there is something of the gate.
local function gate_is_marked(name)
  return call('ZSCORE', slots, (find(name, PART, 1, true) and 'N' or 'K') .. name)
end

-- Who stood there made no place for others.
local function slot_entry_check(member)
  local id, wrong_before = sub(member, -16), wrong
  entry_check('ZREM', slots, member, id, function(r) return slot_is_good(member, r, id) end)
  local name = slot_gate(member)
  if is_repairing and wrong > wrong_before and gate_is_marked(name) then call('ZADD', refills, now, name) end
end

-- A step looks at all gates of its limit, or at all there are.
local function gate_is_swept(name)
  return call('ZSCORE', refills, match(name, '^[^=]*') .. '\0') or call('ZSCORE', refills, '\0')
end

-- Where somebody may come in it has to be known when. A clock that was set back tells something else, until a step
-- has looked at all gates.
local function gate_is_looked_at(g, name)
  local at = gate_look(g)
  if not at or gate_is_swept(name) then return true end
  local told = call('ZSCORE', refills, name)
  return told and (tonumber(told) <= at or now < (tonumber(call('HGET', meta, 'limits') or 0) or 0))
end

-- The entry of a gate. A bucket that time alone has filled is left to the next step.
local function gate_check(name)
  if is_doubtful then return end
  local g = gate_open(name)
  if gate_is_void(g) and g.whole.tat == 0 and not gate_is_swept(name) then
    wrong = wrong + 1
    if is_repairing then call('ZREM', slots, gate_mark(g)) end
  elseif g.whole ~= g and not gate_is_marked(g.whole.name) then
    wrong = wrong + 1
    if is_repairing then call('ZADD', slots, 0, 'K' .. g.whole.name) end
  elseif not gate_is_looked_at(g, name) then
    wrong = wrong + 1
    if is_repairing then call('ZADD', refills, now, name) end
  end
end

local function slots_share()
  local page = call('ZSCAN', slots, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    local member = page[2][at]
    local kind = sub(member, 1, 1)
    if kind == 'K' or kind == 'N' then
      gate_check(sub(member, 2))
    elseif kind == 'T' then
      turn_check(member)
    else
      slot_entry_check(member)
    end
  end
  return answer(page[1])
end

-- No bucket takes longer to be full (culex/limits.h).
local BUCKET_MAX_US = 366 * 86400000000

-- What nobody can have left there would stay for ever. One of a limit that is no rate any more goes by its time.
local function bucket_check(name, tat)
  local has_gate = call('ZSCORE', slots, 'K' .. name)
  if tat > now * 1000 + BUCKET_MAX_US then
    wrong = wrong + 1
    if is_repairing then
      call('ZREM', buckets, name)
      if has_gate then call('ZADD', refills, now, name) end
    end
  elseif tat > now * 1000 and not has_gate and not is_doubtful and limit_of(match(name, '^[^=]*')).kind == 'R' then
    wrong = wrong + 1
    if is_repairing then call('ZADD', slots, 0, 'K' .. name) end
  end
end

-- A bucket that is not full has its gate.
local function buckets_share()
  local page = call('ZSCAN', buckets, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do bucket_check(page[2][at], tonumber(page[2][at + 1]) or math.huge) end
  return answer(page[1])
end

local function refills_share()
  local page = call('ZSCAN', refills, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    local name, is_good = page[2][at], false
    if sub(name, -1) == '\0' then
      is_good = name == '\0' or limit_of(sub(name, 1, -2)).kind
    else
      is_good = is_doubtful or gate_is_marked(name)
    end
    if not is_good then
      wrong = wrong + 1
      if is_repairing then call('ZREM', refills, name) end
    end
  end
  return answer(page[1])
end

-- What cannot be brought anywhere would be looked at for ever; and a STEP looks where `meta` says that there is something.
local function follow_ups_share()
  local page = call('ZSCAN', follow_ups, place, 'COUNT', 25)
  for at = 1, #page[2], 2 do
    local member = page[2][at]
    if not find(member, '^[%w._:%-]+\n', 17) or not follow_up_arguments(member) then
      spoilt = spoilt + 1
      if is_repairing then
        call('HSET', damaged, sub(member, 1, 16), member)
        call('ZREM', follow_ups, member)
      end
    end
  end
  if page[1] == '0' and call('ZCARD', follow_ups) > 0 and not call('HGET', meta, 'follow_ups') then
    wrong = wrong + 1
    if is_repairing then call('HSET', meta, 'follow_ups', 1) end
  end
  return answer(page[1])
end

-- A note of a run that has no end to come, or without its time, would stay for ever.
local function waits_share()
  local page = call('HSCAN', waits, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    local id = page[2][at]
    if call('ZSCORE', waits_until, id) then
      entry_check('HDEL', waits, id, id, function(r) return not IS_FINAL[r.state] end)
    else
      wrong = wrong + 1
      if is_repairing then call('HDEL', waits, id) end
    end
  end
  if page[1] == '0' and call('ZCARD', waits_until) > 0 and not call('HGET', meta, 'waits') then
    wrong = wrong + 1
    if is_repairing then call('HSET', meta, 'waits', 1) end
  end
  return answer(page[1])
end

-- No note is good for longer.
local function waits_until_share()
  local page = call('ZSCAN', waits_until, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    local id = page[2][at]
    if #id == 16 and call('HEXISTS', waits, id) == 0 or tonumber(page[2][at + 1]) > now + 86400000 + WAIT_KEEP_MS then
      wrong = wrong + 1
      if is_repairing then
        call('HDEL', waits, id)
        call('ZREM', waits_until, id)
      end
    end
  end
  return answer(page[1])
end

-- Batches, their members and callbacks. A member that has nothing to end any more would keep its batch for ever: it is
-- counted by the end that its run has come to, or as cancelled.
local batches_share, batch_counts_share
do
local END_COUNT = {[DONE] = 'done', [DEAD] = 'dead'}

local function wrong_drop(field)
  wrong = wrong + 1
  if is_repairing then call('HDEL', batches, field) end
end

-- One that waits and cannot come in may be given anew.
local function callbacks_check(id, b)
  for _, kind in ipairs({'c', 's', 'd'}) do
    local text = sub(b[kind], 1, 1) == 'w' and call('HGET', batches, kind .. id)
    if sub(b[kind], 1, 1) == 'w' and not (text and follow_up_arguments(string.rep('-', 16) .. text)) then
      spoilt = spoilt + 1
      if is_repairing then
        if text then call('HSET', damaged, sub(id, 1, 15) .. kind, text) end
        call('HDEL', batches, kind .. id)
        b[kind] = ''
        batch_save(b)
      end
    end
  end
end

-- One whose time is lost gets another one: none ends it too early.
local function batch_check(id, text)
  local b = batch_find(id)
  if not b then
    spoilt = spoilt + 1
    if is_repairing then
      call('HSET', damaged, id, text)
      call('HDEL', batches, id)
    end
  elseif not call('ZSCORE', batches_until, id) then
    wrong = wrong + 1
    if is_repairing then call('ZADD', batches_until, b.state == 'C' and BATCH_NEVER or now + 604800000, id) end
  end
  if b and b.state == 'O' and not call('ZSCORE', batches_until, 'o' .. id) then
    wrong = wrong + 1
    if is_repairing then call('ZADD', batches_until, BATCH_NEVER + now, 'o' .. id) end
  end
  if b then callbacks_check(id, b) end
end

-- Of the batches whose ids these are, those that have not ended.
local function live_of(ids)
  local kept = {}
  for at = 1, #ids, 16 do
    local b = #ids >= at + 15 and batch_find(sub(ids, at, at + 15))
    if b and b.state ~= 'E' then kept[#kept + 1] = b.id end
  end
  return table.concat(kept)
end

local function members_set(field, ids)
  if ids == '' then call('HDEL', batches, field) else call('HSET', batches, field, ids) end
end

local function member_check(id, field, ids)
  local text = call('HGET', runs, id)
  local r = text and record_parse(text)
  local kept = live_of(ids)
  if kept ~= ids then
    wrong = wrong + 1
    if is_repairing then members_set(field, kept) end
  end
  if kept == '' or batch_find(id) or text and not (r and IS_FINAL[r.state]) then return end
  wrong = wrong + 1
  if is_repairing then member_end(id, r and END_COUNT[r.state] or 'cancelled', now) end
end

function batches_share()
  local page = call('HSCAN', batches, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    local field, value = page[2][at], page[2][at + 1]
    local kind, id = sub(field, 1, 1), sub(field, 2)
    if #field == 16 then
      batch_check(field, value)
    elseif #field ~= 17 or not find(kind, '[mcsd]') or kind ~= 'm' and not batch_find(id) then
      wrong_drop(field)
    elseif kind == 'm' then
      member_check(id, field, value)
    end
  end
  batches_write()
  if page[1] == '0' and call('ZCARD', batches_until) > 0 and not call('HGET', meta, 'batches') then
    wrong = wrong + 1
    if is_repairing then call('HSET', meta, 'batches', 1) end
  end
  return answer(page[1])
end

-- One of all these.
local function members_add(left, ids)
  for at = 1, #ids, 16 do
    local id = sub(ids, at, at + 15)
    left[id] = (left[id] or 0) + 1
  end
end

-- How many members each batch has, and the ids of the batches. A scan may show a field twice.
local function members_count()
  local ids, left, is_seen, cursor = {}, {}, {}, '0'
  repeat
    local page = call('HSCAN', batches, cursor, 'COUNT', 1000)
    for at = 1, #page[2], 2 do
      local field, id = page[2][at], page[2][at + 1]
      if not is_seen[field] and #field == 16 then ids[#ids + 1] = field end
      if not is_seen[field] and #field == 17 and sub(field, 1, 1) == 'm' then members_add(left, id) end
      is_seen[field] = true
    end
    cursor = page[1]
  until cursor == '0'
  return ids, left
end

-- What is counted of batches, against their members: at one moment, so of a bounded number. Of a batch that members were
-- lost of, no more than those are left once the others have ended. Who is counted and not there counts as cancelled.
local MEMBERS_MAX = 20000
function batch_counts_share()
  more[1] = call('HLEN', batches) > MEMBERS_MAX and 1 or 0
  if more[1] == 1 then return answer('0') end
  local ids, left = members_count()
  local changed = {}
  for _, id in ipairs(ids) do
    local b, there = batch_find(id), left[id] or 0
    if b and b.state ~= 'E' and (b.added ~= b.done + b.dead + b.cancelled + there or b.state == 'C' and there == 0) then
      wrong, changed[#changed + 1] = wrong + 1, b
      there = there + b.done + b.dead + b.cancelled
      b.cancelled, b.added = b.cancelled + math.max(b.added - there, 0), math.max(b.added, there)
    end
  end
  if is_repairing then
    for _, b in ipairs(changed) do batch_settle(b, now) end
    batches_write()
  end
  return answer('0')
end
end

local function batches_until_share()
  local page = call('ZSCAN', batches_until, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    local member = page[2][at]
    local open = #member == 17 and batch_find(sub(member, 2))
    if #member == 17 and not (open and open.state == 'O') or #member ~= 17 and not batch_find(member) then
      wrong = wrong + 1
      if is_repairing then call('ZREM', batches_until, page[2][at]) end
    end
  end
  return answer(page[1])
end

-- A row that cannot be read, or has no name in its set, would stay for ever; so would a call without its time.
local function figures_share()
  local page = call('HSCAN', figures, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    local field, text = page[2][at], page[2][at + 1]
    local is_good
    if sub(field, 1, 1) == '@' then
      is_good = is_int(text, 0) and call('ZSCORE', figures_calls, sub(field, 2))
    else
      local figure = figure_parse(text)
      is_good = figure and figure_text(figure) == text and match(field, '^%d%d%d%d%d%d%d%d|') and call('ZSCORE', figures_rows, field)
    end
    if not is_good then
      wrong = wrong + 1
      if is_repairing then
        call('HDEL', figures, field)
        call('ZREM', figures_rows, field)
        call('ZREM', figures_calls, sub(field, 2))
      end
    end
  end
  return answer(page[1])
end

-- An entry that cannot be read would be told as missing for as long as it is kept.
local function event_is_good(text, position)
  local last, count, at = match(text, '^(%d+)|%d+|(%d+)\n()')
  if not last or tonumber(last) ~= position then return false end
  local left = tonumber(count)
  while at <= #text do
    local of, stop = match(text, '^[NUSDFKLRXCYMGEPQ]|%d+|(%d+)|[^\n]*\n()', at)
    local those = tonumber(of)
    if not those then return false end
    left, at = left - those, stop
    while those > 0 do
      if at + 17 > #text then return false end
      local first, its = struct.unpack('>I4I2', text, at + 12)
      if its == 0 or its > those or first + its - 1 > 4294967295 then return false end
      those, at = those - its, at + 18
    end
  end
  return left == 0 and at == #text + 1
end

local function events_share()
  local page = call('ZSCAN', events, place, 'COUNT', 100)
  local newest = tonumber(call('HGET', meta, 'event') or nil) or 0
  for at = 1, #page[2], 2 do
    local position = tonumber(page[2][at + 1])
    if position > newest or not event_is_good(page[2][at], position) then
      wrong = wrong + 1
      if is_repairing then call('ZREM', events, page[2][at]) end
    end
  end
  return answer(page[1])
end

local function figures_set_share(set, head)
  local page = call('ZSCAN', set, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    if call('HEXISTS', figures, head .. page[2][at]) == 0 then
      wrong = wrong + 1
      if is_repairing then call('ZREM', set, page[2][at]) end
    end
  end
  return answer(page[1])
end

local function limits_share()
  local page = call('HSCAN', limits, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    local name = page[2][at]
    local is_good = sub(name, -1) == '\0' and call('ZSCORE', refills, name) or limit_read(page[2][at + 1])
    if not is_good then
      wrong = wrong + 1
      if is_repairing then call('HDEL', limits, name) end
    end
  end
  return answer(page[1])
end

local function unique_share()
  local page = call('HSCAN', unique, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    local key, entry = page[2][at], page[2][at + 1]
    if #entry > 16 then
      window_check(key, sub(entry, 17))
    else
      entry_check('HDEL', unique, key, entry, function(r)
        local its, states = match(r.tail, TAIL_UNIQUE)
        return not IS_FINAL[r.state] and its == key and states ~= '0'
      end)
    end
  end
  return answer(page[1])
end

local function unique_until_share()
  local page = call('ZSCAN', unique_until, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    local entry = call('HGET', unique, page[2][at])
    if not entry or not is_int(sub(entry, 17), 0) then
      wrong = wrong + 1
      if is_repairing then call('ZREM', unique_until, page[2][at]) end
    end
  end
  return answer(page[1])
end

-- One that cannot be read counts as new already.
local function schedules_share()
  local page = call('HSCAN', schedules, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    if not schedule_parse(page[2][at + 1]) then
      wrong = wrong + 1
      if is_repairing then call('HDEL', schedules, page[2][at]) end
    end
  end
  return answer(page[1])
end

local function metadata_share()
  local page = call('HSCAN', metadata, place, 'COUNT', 25)
  for at = 1, #page[2], 2 do
    if not metadata_parse(page[2][at + 1]) then
      wrong = wrong + 1
      if is_repairing then call('HDEL', metadata, page[2][at]) end
    end
  end
  return answer(page[1])
end

local function schema_is_text(text)
  return text and #text > 0 and #text <= SCHEMA_BYTES_MAX
end

-- A text that is good stays, as one that was told now where nobody knows when it was; without it there is nothing to keep.
local function schema_mend(field, text)
  wrong = wrong + 1
  if not is_repairing then return end
  local e = schema_parse(field, call('HGET', schemas, field))
  if schema_is_text(text) and schema_parse(field, '0|0|0') then
    schema_put(field, e and e.told or now, 0, #text)
  else
    schema_drop(field)
  end
end

local function schemas_share()
  local page = call('HSCAN', schemas, place, 'COUNT', 25)
  for at = 1, #page[2], 2 do
    local field, text = page[2][at], call('HGET', schema_texts, page[2][at])
    local e, told = schema_parse(field, page[2][at + 1]), call('ZSCORE', schemas_told, field)
    if not e or not schema_is_text(text) or #text ~= e.len or tonumber(told) ~= e.told then schema_mend(field, text) end
  end
  return answer(page[1])
end

local function schema_texts_share()
  local page = call('HSCAN', schema_texts, place, 'COUNT', 25)
  for at = 1, #page[2], 2 do
    if call('HEXISTS', schemas, page[2][at]) == 0 then schema_mend(page[2][at], page[2][at + 1]) end
  end
  return answer(page[1])
end

local function schemas_told_share()
  local page = call('ZSCAN', schemas_told, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    if call('HEXISTS', schemas, page[2][at]) == 0 then schema_mend(page[2][at], nil) end
  end
  return answer(page[1])
end

-- When a field may go, nil for one that cannot be read.
local function producer_until(text)
  local last, listed, _, first, ms, _, _, ids = match(text, CALL_ENTRY)
  if not last or #last ~= 35 or not string.find(last, '^' .. string.rep('%d', 19)) or #ids % 16 > 0
    or not is_int(listed, 0) or not is_int(first, NUMBER_MAX) or not is_int(ms, 0) then
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
  waiting = waiting - slots_count('P', 'Q')
  local ghosts = call('LLEN', ready) - waiting
  if ghosts >= 0 and ghosts ~= meta_number('ghosts') then meta_put('ghosts', ghosts) end
end

-- `front` must lie beyond every order given out there, or what comes back goes behind what did so before.
local function front_check()
  local front = meta_number('front')
  local least = front
  for priority = 0, 9 do
    local base = priority * 17592186044416
    local first = call('ZRANGEBYSCORE', urgent, -base - 8796093022207, -base, 'WITHSCORES', 'LIMIT', 0, 1)
    if first[2] then least = math.min(least, tonumber(first[2]) + base) end
  end
  if least < front then meta_put('front', least) end
end

local function limits_flag_check()
  local newest = call('HGET', meta, 'limits')
  if newest and not is_int(newest, 0) then meta_put('limits', now) end
  if not newest and call('ZCARD', slots) + call('ZCARD', refills) + call('ZCARD', buckets) > 0 then
    meta_put('limits', now)
  end
end

-- Ghosts differ when other things are wrong.
local function totals_share()
  if not is_doubtful then ghosts_check() end
  front_check()
  limits_flag_check()
  return answer('0')
end

-- The line: bodies and blocks.

local line_shares = {}
do
local held, kept, most, least = 0, 0, 0, 0

-- What changes whenever somebody else has changed the line.
local function line_mark()
  local facts = call('HMGET', meta, 'line', 'taken', 'held', 'kept')
  for at = 1, 4 do facts[at] = facts[at] or '' end
  return table.concat(facts, ' ') .. ' ' .. call('HLEN', bodies) .. ' ' .. call('HLEN', blocks)
end

local is_same = nil

function line_shares.begin()
  is_same = place == '0' and share == 'chars' or ARGV[6] == line_mark()
end

local function line_answer(next_place)
  plan_write()
  more = {held, kept, most, least, is_same and line_mark() or '!'}
  return answer(next_place)
end

local function name_number(name)
  return find(name, '^[1-9]%d*$') and is_int(name, NUMBER_MAX) and tonumber(name) or nil
end

-- Blocks.

local BLOCK_PLACES_MAX = 4096

-- Whether each letter leads to an instant that can be one.
local function untils_are_strict(b)
  local list = block_instants(b)
  for _, text in ipairs(list) do
    if not is_int(text, 0) then return false end
  end
  for place = #list + 1, #LETTERS do
    if find(b.chars, sub(LETTERS, place, place), 1, true) then return false end
  end
  return table.concat(list, ',') == b.untils and #list <= #LETTERS
end

local function block_strict(name)
  local b = name_number(name) and block_load(name)
  local is_strict_one = b and #b.owner >= 1 and #b.owner <= 32 and is_int(b.since, 0)
    and (b.keep == '' and b.timeout == '' or is_int(b.keep, 0) and is_int(b.timeout, 0))
    and #b.chars <= BLOCK_PLACES_MAX and b.first + #b.chars - 1 <= NUMBER_MAX and untils_are_strict(b)
  return is_strict_one and b or nil
end

-- Its runs are in no block then, and its entries in the indexes lead nowhere.
local function block_aside(name, text)
  spoilt = spoilt + 1
  if not is_repairing then return end
  call('HSET', damaged, 'block ' .. name, text)
  call('HINCRBY', meta, 'damaged', 1)
  plan_add('block_drops', name)
  blocks_known[name] = false
end

-- Not wrong when no entry is wanted (nil): that is seen to where the index is looked at.
local function block_entry(key, b, score, lost_score)
  local there = call('ZSCORE', key, b.name)
  if not score or there and (score == true or tonumber(there) == score) then return end
  wrong = wrong + 1
  if is_repairing then call('ZADD', key, lost_score or score, b.name) end
end

local function block_check(b)
  if not find(b.chars, '[^%-]') then
    wrong = wrong + 1
    if is_repairing then plan_add('block_drops', b.name) end
    return
  end
  block_entry(spans, b, b.first)
  block_entry(block_leases, b, b.is_leased or nil, now + (meta_count(call('HGET', meta, 'lease')) or 0))
  block_entry(block_ends, b, block_end(b))
end

-- A counter that is no number would stop whoever counts.
local function counters_check()
  for _, field in ipairs({'held', 'kept'}) do
    if not meta_count(call('HGET', meta, field)) then meta_put(field, 0) end
  end
end

function line_shares.blocks()
  if place == '0' then counters_check() end
  local page = call('HSCAN', blocks, place, 'COUNT', 10)
  for at = 1, #page[2], 2 do
    local b = block_strict(page[2][at])
    if b then block_check(b) else block_aside(page[2][at], page[2][at + 1]) end
  end
  plan_write()
  return answer(page[1])
end

local function block_index_share(key, is_wanted)
  local page = call('ZSCAN', key, place, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    local name = page[2][at]
    local b = block_strict(name)
    -- One that cannot be read takes its entries along when it is put aside.
    if not (b and is_wanted(b)) and (b or call('HEXISTS', blocks, name) == 0) then
      wrong = wrong + 1
      if is_repairing then call('ZREM', key, name) end
    end
  end
  return answer(page[1])
end

function line_shares.spans() return block_index_share(spans, function(b) return find(b.chars, '[^%-]') end) end
function line_shares.block_leases() return block_index_share(block_leases, function(b) return b.is_leased end) end
function line_shares.block_ends() return block_index_share(block_ends, function(b) return b.is_ending end) end

-- Where the block behind this one begins: from there on a number is that one's.
local function block_limit(b)
  local name = call('ZRANGEBYSCORE', spans, b.first + 1, '+inf', 'LIMIT', 0, 1)[1]
  return name and block_strict(name) and tonumber(name) or NUMBER_MAX + 1
end

-- Which of the numbers have a body. With a long one among them, they are not read.
local function bodies_there(b, numbers)
  if b.long == '0' then return read(bodies, numbers) end
  local there = {}
  for at, number in ipairs(numbers) do there[at] = call('HEXISTS', bodies, number) == 1 end
  return there
end

local function char_drop(b, at)
  wrong = wrong + 1
  if is_repairing then block_leave(b, at) end
end

local function chars_count(b)
  for at = 1, #b.chars do
    local char = sub(b.chars, at, at)
    if char == '0' or char == '1' then held = held + 1 elseif char ~= '-' then kept = kept + 1 end
  end
end

-- What lies where the block behind begins is that one's: no number is to be looked for in two.
local function block_cut(b, count)
  local _, runs_beyond = string.gsub(sub(b.chars, count + 1), '[^%-]', '')
  wrong = wrong + math.max(runs_beyond, 1)
  if not is_repairing then return end
  for at = count + 1, #b.chars do block_leave(b, at) end
  block_set(b, count, 1, sub(b.chars, count, count))
  b.chars = sub(b.chars, 1, count)
end

-- The last number of it that has a body.
local function chars_check(b)
  local numbers, last, count = {}, 0, math.min(#b.chars, block_limit(b) - b.first)
  if count < #b.chars then block_cut(b, count) end
  for at = 1, count do numbers[at] = b.first + at - 1 end
  local there = bodies_there(b, numbers)
  for at = 1, count do
    local is_gone = sub(b.chars, at, at) == '-'
    if not is_gone and not there[at] then char_drop(b, at) elseif not is_gone then last = numbers[at] end
  end
  chars_count(b)
  return last
end

-- By their spans, which are in order by now: a scan may show a block twice, and it would count twice.
function line_shares.chars()
  local page, last = call('ZRANGEBYSCORE', spans, place, '+inf', 'WITHSCORES', 'LIMIT', 0, 10), 0
  for at = 1, #page, 2 do
    local b = block_strict(page[at])
    if b then last = math.max(last, chars_check(b)) end
  end
  if last > 0 then
    number_check('line', last)
    number_check('taken', last)
  end
  local next_place = #page == 20 and floor(page[20]) + 1 or 0
  return line_answer(next_place <= NUMBER_MAX and string.format('%.0f', next_place) or '0')
end

-- Numbers.

local function last_taken()
  local name = call('ZREVRANGEBYSCORE', spans, '+inf', '-inf', 'LIMIT', 0, 1)[1]
  local b = name and block_strict(name)
  return b and b.first + #b.chars - 1 or 0
end

-- What nobody can have taken is set back to what has been: what is left of that on the line keeps its
-- order. So that no claim passes millions of holes, it is the number before the first that waits.
local function taken_set_back(page)
  local last = last_taken()
  least = tonumber(ARGV[10])
  for at = 1, #page[2], 2 do
    local number = name_number(page[2][at])
    if number and number > last and (least == 0 or number < least) and body_strict(page[2][at + 1]) then least = number end
  end
  if page[1] == '0' then
    if least == 0 then least = math.max(last, meta_count(call('HGET', meta, 'line')) or 0) + 1 end
    call('HSET', meta, 'taken', math.max(last, least - 1))
    least = 0
  end
end

-- Whether `taken` must be set back.
local function numbers_look()
  local facts = call('HMGET', meta, 'line', 'taken')
  local last, taken = meta_count(facts[1]), meta_count(facts[2])
  if taken and (not facts[1] or not last) and taken > 0 then
    meta_put('line', taken)
    return false
  end
  if not last then meta_put('line', 0) end
  if taken and taken <= (last or 0) then return false end
  wrong = wrong + 1
  return is_repairing
end

function line_shares.numbers()
  if place == '0' and not numbers_look() then return line_answer('0') end
  local page = call('HSCAN', bodies, place, 'COUNT', 25)
  taken_set_back(page)
  return line_answer(page[1])
end

-- Bodies.

-- It has been counted among the chars of its block.
local function body_uncount(o)
  if not o.block then return end
  if o.char == '0' or o.char == '1' then held = held - 1 else kept = kept - 1 end
end

local function body_drop(o)
  body_uncount(o)
  plan_add('body_drops', o.name)
  if o.block then block_leave(o.block, o.place) end
end

local function body_name_aside(name, body)
  spoilt = spoilt + 1
  if not is_repairing then return end
  call('HSET', damaged, name, body)
  call('HINCRBY', meta, 'damaged', 1)
  plan_add('body_drops', name)
end

-- One that was taken off the line and is in no block: it has been granted once, as far as anybody can
-- know, and a handler may still be at it.
local function body_stray(o)
  wrong = wrong + 1
  if not is_repairing then return end
  local r = ordinary_adopt(o)
  r.attempt, r.started = 1, 1
  plan_put('record_puts', o.id, record_text(r))
  ready_put(o.id, r, now)
end

-- As redis/lib_blocks.lua has it, but of one that stands nowhere too.
local function body_place(number, body)
  local o = {number = number, name = tostring(number), body = body, id = line_id(number, body_ms(body)), state = WAITING}
  local b, at, char = block_of(number)
  if b and char ~= '-' and block_strict(b.name) then o.block, o.place, o.char = b, at, char end
  o.head, o.at = body_strict(body)
  return o
end

-- Whether it stays a body.
local function body_check(o)
  if not o.head then
    spoilt = spoilt + 1
    if is_repairing then
      body_uncount(o)
      body_aside(o)
    end
    return not is_repairing
  end
  if call('HEXISTS', runs, o.id) == 1 then
    wrong = wrong + 1
    if is_repairing then body_drop(o) end
    return false
  end
  if not o.block and o.number <= line.taken then
    if not is_doubtful then body_stray(o) end
    return not is_repairing
  end
  if not o.block and (least == 0 or o.number < least) then least = o.number end
  return true
end

function line_shares.bodies()
  local page = call('HSCAN', bodies, place, 'COUNT', 25)
  line_know()
  for at = 1, #page[2], 2 do
    local number = name_number(page[2][at])
    if not number then
      body_name_aside(page[2][at], page[2][at + 1])
    else
      local o = body_place(number, page[2][at + 1])
      if body_check(o) then records = records + 1 end
      if o.head then most = math.max(most, number) end
    end
  end
  number_check('line', most)
  local is_work = plan.urgents
  local reply = line_answer(page[1])
  if is_work then work_tell() end
  return reply
end

-- More numbers than that were never given and had no run that is left, while older ones have.
local LINE_GAP_MAX = 16777216

-- Only when nobody has changed the line since the first look at a block: else the sums are of no moment, and
-- it is told that they were left out.
function line_shares.counts()
  more = {is_same and 0 or 1}
  if not is_same or is_doubtful then return answer('0') end
  local facts = call('HMGET', meta, 'held', 'kept', 'line', 'taken')
  if (facts[1] or '0') ~= ARGV[7] then meta_put('held', ARGV[7]) end
  if (facts[2] or '0') ~= ARGV[8] then meta_put('kept', ARGV[8]) end
  local taken, first = meta_count(facts[4]) or 0, tonumber(ARGV[10])
  local last = math.max(tonumber(ARGV[9]), taken, last_taken())
  if (meta_count(facts[3]) or 0) - last > LINE_GAP_MAX then meta_put('line', last) end
  if is_repairing and first - 1 > taken then call('HSET', meta, 'taken', first - 1) end
  return answer('0')
end
end

local function state_is(state)
  return function(r) return r.state == state end
end

local shares = {
  records = records_share, walk = walk_share, verify = verify_share, totals = totals_share,
  unique = unique_share, unique_until = unique_until_share, schedules = schedules_share, metadata = metadata_share,
  schemas = schemas_share, schema_texts = schema_texts_share, schemas_told = schemas_told_share,
  sessions = sessions_share, sessions_seen = sessions_seen_share,
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
    return set_share(urgent, function(r) return r.state == WAITING and tonumber(r.behind) < 2 end)
  end,
  limited = function() return set_share(limited, function(r) return r.state == WAITING and r.behind ~= '0' end) end,
  waits = waits_share, waits_until = waits_until_share, batches = batches_share, batches_until = batches_until_share,
  batch_counts = batch_counts_share, events = events_share,
  figures = figures_share, figures_rows = function() return figures_set_share(figures_rows, '') end,
  figures_calls = function() return figures_set_share(figures_calls, '@') end,
  follow_ups = follow_ups_share, slots = slots_share, buckets = buckets_share, refills = refills_share, limits = limits_share,
  payloads = function() return hash_share(payloads, function(r) return r.state ~= DONE end) end,
  results = function() return hash_share(results, state_is(DONE)) end,
  errors = function() return hash_share(errors, function() return true end) end,
  progress = function() return hash_share(progress, function() return true end) end,
  logs = logs_share,
}
local facts = call('HMGET', meta, 'layout', 'waits', 'batches')
local refusal = layout_refusal(facts[1])
if refusal then return refusal end
waits_begin(facts[2], now)
batches_begin(facts[3], now)
-- A queue that is called calm is looked at less closely by those who claim.
if is_repairing then call('HDEL', meta, 'calm') end
local function share_run()
  if shares[share] then return shares[share]() end
  line_shares.begin()
  return line_shares[share]()
end
local reply = share_run()
-- Runs that ended may have been the last of their batches.
if batch_told then wake_one() end
return reply
