-- store/redis/lib_acks.lua - how executions ended: the acks of a STEP.

local acks_settle
do
-- Successes that are kept for no time leave no record behind.
local forgotten = {}

local function done_forget(id, key, attempt)
  forgotten[#forgotten + 1] = id
  plan_add('lease_drops', id)
  plan_add('payload_drops', id)
  unique_release(id, key)
  if event_note then event_note('D', id, attempt) end
  count('done', 1)
end

-- What stands behind the result in the text of an end, a queue and what is to come into it, one after the other, is kept
-- until redis/follow.lua has brought it there. Returns the result, '' for none.
local function follow_ups_keep(id, blob)
  local result, at = nil, 1
  local function take()
    local _, stop, len = find(blob, '^%$(%d+)\r\n', at)
    at = stop + len + 3
    return sub(blob, stop + 1, stop + len)
  end
  result = take()
  counted.has_follow_ups = true
  while at <= #blob do
    local queue = take()
    call('ZADD', follow_ups, call('HINCRBY', meta, 'follow_ups', 1), id .. queue .. '\n' .. take())
  end
  return result
end

local function ack_settle(id, r, order, blob)
  local event, attempt, delay, has_blob, begun, words = string.match(order, '^(%u+)|(%d+)|(%-?%d+)|([012])(b?)|?(.*)$')
  if not r then return 'G' end
  if not holds(r, attempt) then
    if event == 'DONE' and r.state == DONE and r.attempt == attempt and r.owner == session then
      return 'R'
    end
    count('stale', 1)
    return 'S'
  end
  if has_blob == '2' then
    blob = follow_ups_keep(id, blob)
    has_blob = blob ~= '' and '1' or '0'
  end
  if event == 'FAIL' or event == 'DISCARD' then count('failed', 1) end
  if event == 'CRASH' then count('crashed', 1) end
  if event == 'LOSS' then count('lost', 1) end
  if event == 'DONE' and string.match(r.tail, TAIL_keep_success_ms) == '0' and not (waits_end and is_awaited(id, now)) then
    if r.behind ~= '0' then place_leave(id, r) end
    if batch_end then batch_end(id, 'done') end
    done_forget(id, string.match(r.tail, TAIL_unique_key), attempt)
    return 'O'
  end
  if has_blob == '1' then plan_put(event == 'DONE' and 'result_puts' or 'text_puts', id, blob) end
  if words ~= '' then words = words_keep(id, words) end
  if words ~= '' then call('HSET', progress, id, words) end
  leave(id, r, event, tonumber(delay), now, event == 'LOSS' and 1 or 0, begun == 'b')
  return 'O'
end

-- Plain successes of the holder, which are most of what happens: what leave() would do, without
-- taking records apart. An attempt's records all begin alike while we hold them, and all
-- begin alike when they are done and kept for the same time.
-- (Lua knows 200 locals in a script: what only one part needs stands in a block of its own.)
-- Their unique keys are asked for in one go, when all are known, or before an end that may take one again.
local done_settle, dones_release, dones_write, dones_unkey
do
local helds, dones, dones_records, dones_scores, dones_count = {}, {}, {}, {}, 0
local released, released_ids, unkeyed = {}, {}, {}

local function held_make(attempt)
  local before = version_text .. '|' .. ACTIVE .. '|' .. attempt .. '|' .. session .. '|'
  local held = {before = before, len = #before, dones = {}, untils = {}, head = '-'}
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

-- Takes a record apart, for those that follow: what comes before the time of its enqueue, what lies between that and the
-- unique key, and what is behind it. Returns that key; nil for one that cannot be read, or came from behind what it needs.
local function held_learn(held, text)
  local _, stop, rest, behind, born, aged, keep, at_key, key = find(text, RECORD_HELD, held.len + 1)
  local names = rest and behind < '2' and match(text, HELD_LIMITS, stop + 1)
  if not names then return nil end
  held.head, held.middle, held.ending = sub(text, held.len + 1, born - 1), sub(text, aged, at_key - 1), sub(text, stop)
  held.rest, held.keep, held.gates = rest, keep, behind ~= '0' and gates_named(names)
  return key
end

-- The unique key of a record that is like the last one but for that key and the time of its enqueue, as most are; else nil.
local function held_alike(held, text)
  local born = held.len + #held.head
  if sub(text, held.len + 1, born) ~= held.head then return nil end
  local _, aged = find(text, '^%d+', born + 1)
  local at_key = aged and aged + #held.middle
  if not aged or sub(text, aged + 1, at_key) ~= held.middle then return nil end
  local bar = find(text, '|', at_key + 1, true)
  return bar and sub(text, bar) == held.ending and sub(text, at_key + 1, bar - 1) or nil
end

function done_settle(id, text, attempt)
  local held = helds[attempt] or held_make(attempt)
  local len = held.len
  if sub(text, 1, len) ~= held.before then return false end
  local key = held_alike(held, text) or held_learn(held, text)
  if not key then return false end
  local keep, gates_held = held.keep, held.gates
  if gates_held then
    is_limited = true
    gates_work(gates_held, id, -1)
  end
  if key ~= '' then
    local count = #released + 1
    released[count], released_ids[count] = key, id
  end
  if keep == '0' then done_forget(id, '', attempt) return true end
  if event_note then event_note('D', id, attempt) end
  local done_text = held.dones[keep] or done_make(held, attempt, keep)
  local pair = dones_count * 2
  dones_count = dones_count + 1
  dones[dones_count] = id
  dones_records[pair + 1] = id
  dones_records[pair + 2] = done_text .. sub(text, held.rest)
  dones_scores[pair + 1] = held.untils[keep]
  dones_scores[pair + 2] = id
  return true
end

function dones_release()
  if #released == 0 then return end
  uniques_read(released)
  for at = 1, #released do
    local key = released[at]
    if unique_entries[key] == released_ids[at] then
      unkeyed[#unkeyed + 1] = key
      unique_entries[key] = false
    end
  end
  released, released_ids = {}, {}
end

-- Before what the plan says of unique keys: they may have been taken again.
function dones_unkey()
  write('HDEL', unique, unkeyed)
end

function dones_write()
  dones_release()
  if dones_count == 0 then return end
  write('HSET', runs, dones_records)
  write('ZADD', done, dones_scores)
  write('ZREM', active, dones)
  write('HDEL', payloads, dones)
  count('done', dones_count)
end
end

-- The ordinary run's first attempt ended: in its block, as long as that can tell it.
local stretch_settle, ordinary_settle, bodies_of
do
-- Those of one block that are kept equally long; false when it has no letter for them.
local function stretch_end(b, place, n, keep)
  local letter = '-'
  if keep ~= '0' then
    letter = block_letter(b, text_of(now + tonumber(keep)))
    if not letter then return false end
    count('kept', n)
  end
  block_set(b, place, n, letter)
  count('held', -n)
  count('done', n)
  if letter == '-' then
    for number = b.first + place - 1, b.first + place + n - 2 do plan_add('body_drops', number) end
  end
  return true
end

-- One whose body was read. In a block of long payloads, those that are kept leave theirs.
local function body_end(b, place, body)
  if not body then block_leave(b, place) return 'G' end
  local o = ordinary_in(b, place, body)
  o.is_leaving = true
  if not o.head then body_aside(o) return 'G' end
  local keep = match(o.head, '^%d+|(%d+)')
  if not stretch_end(b, place, 1, keep) then
    leave(o.id, ordinary_adopt(o, true), 'DONE', 0, now, 0)
    return 'O'
  end
  if event_note then event_note('D', o.id, '1') end
  if keep ~= '0' and b.long == '1' then
    plan_put('body_puts', o.name, sub(body, 1, o.at - 1))
  end
  return 'O'
end

function bodies_of(b, place, n)
  local numbers = {}
  for at = 1, n do numbers[at] = b.first + place + at - 2 end
  return read(bodies, numbers)
end

-- Those of group_ids from `ids` on count up, as their numbers do, as long as they are of one millisecond.
local function stretch_note(n, ids)
  local from, ms = 0, sub(group_ids, ids + 1, ids + 6)
  for at = 1, n do
    local base = ids + at * 16
    if at == n or sub(group_ids, base + 1, base + 6) ~= ms then
      event_note('D', sub(group_ids, ids + from * 16 + 1, ids + from * 16 + 16), '1', nil, at - from)
      from, ms = at, sub(group_ids, base + 1, base + 6)
    end
  end
end

-- `n` held runs of ours from `place` on have succeeded: returns their answers. Their ids are behind `ids` of group_ids.
function stretch_settle(b, place, n, ids)
  local is_plain = b.keep == '0' or b.keep ~= '' and b.long == '0'
  if is_plain and stretch_end(b, place, n, b.keep) then
    if event_note then stretch_note(n, ids) end
    return string.rep('O', n)
  end
  local texts, answers = bodies_of(b, place, n), {}
  for at = 1, n do answers[at] = body_end(b, place + at - 1, texts[at]) end
  return table.concat(answers)
end

-- An ack of its own for one that has no record.
function ordinary_settle(id, number, body, order, blob)
  if not body or id ~= line_id(number, body_ms(body)) then return 'G' end
  local b, place, char = block_of(number)
  if char == '-' then return 'G' end
  local event, attempt = match(order, '^(%u+)|(%d+)|')
  local is_held = char == '1' or char == '0'
  if not b or b.owner ~= session or attempt ~= '1' or not is_held then
    if b and b.owner == session and attempt == '1' and event == 'DONE' then return 'R' end
    count('stale', 1)
    return 'S'
  end
  local o = ordinary_in(b, place, body)
  o.is_leaving = true
  if not o.head then body_aside(o) return 'G' end
  if event == 'DONE' and match(o.head, '^%d+|(%d+)') == '0' then
    if match(order, '^DONE|1|%d+|2') then follow_ups_keep(id, blob) end
    stretch_end(b, place, 1, '0')
    if event_note then event_note('D', id, '1') end
    return 'O'
  end
  return ack_settle(id, ordinary_adopt(o, event == 'DONE'), order, blob)
end
end

-- The ends of a group's runs: those that we hold in blocks, one stretch after the other.
local groups_settle
do
-- A number that we do not hold in a block may be that of a run with a record by now.
local function number_settle(number, id)
  local text = call('HGET', runs, id)
  if text then return ack_settle(id, record_parse(text), 'DONE|1|0|0', '') end
  return ordinary_settle(id, number, call('HGET', bodies, number), 'DONE|1|0|0', '')
end

-- How many of the `n` runs from `place` on are those of the ids. Numbers are given out again when the
-- server comes back with an older state: an end counts for its own claim, or else for its own id.
local function same_count(b, place, n, ids)
  local texts = bodies_of(b, place, n)
  for at = 1, n do
    local id = texts[at] and line_id(b.first + place + at - 2, body_ms(texts[at]))
    if id ~= sub(group_ids, ids + at * 16 - 15, ids + at * 16) then return at - 1 end
  end
  return n
end

local function group_settle(number, last, since, ids, answers)
  while number <= last do
    local b, place, char = block_of(number)
    local n = 0
    if b and b.owner == session and (char == '1' or char == '0') then
      local _, stop = find(b.chars, '^[01]+', place)
      n = math.min(stop - place, last - number) + 1
      if b.since ~= since then n = same_count(b, place, n, ids) end
    end
    if n > 0 then
      answers[#answers + 1] = stretch_settle(b, place, n, ids)
    else
      n = 1
      answers[#answers + 1] = number_settle(number, sub(group_ids, ids + 1, ids + 16))
    end
    number, ids = number + n, ids + n * 16
  end
end

-- Of another queue that had this name, by the salt of the first id.
local function is_strange(ids)
  local id = sub(group_ids, ids + 1, ids + 16)
  return sub(id, 7, 10) ~= sub(line_id(1, 0), 7, 10)
end

function groups_settle(answers)
  local ids = 0
  for at = groups_at, groups_at + group_count * 3 - 3, 3 do
    local first, n = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
    if is_strange(ids) then
      answers[#answers + 1] = string.rep('G', n)
    else
      group_settle(first, first + n - 1, ARGV[at + 2], ids, answers)
    end
    ids = ids + n * 16
  end
end
end

local acks_listed
do
-- Whether an end was recorded that its run's record does not show to be this one.
function acks_listed(answers)
  local is_veiled = false
  local ids, plain = {}, {}
  for at = 1, ack_count do ids[at] = ARGV[acks_at - 3 + at * 3] end
  local texts = read(runs, ids)
  local found, number_of = ordinary_read(ids, texts)
  if waits_end then waits_read(ids) end
  if batch_end then members_read(ids) end
  for at = 1, ack_count do
    local base, id, text = acks_at - 3 + at * 3, ids[at], texts[at]
    local order = ARGV[base + 1]
    local attempt = plain[order]
    if attempt == nil then
      attempt = match(order, '^DONE|(%d+)|0|0$') or false
      plain[order] = attempt
    end
    if batch_end and attempt and member_of(id) then attempt = false end
    if attempt and text and not (waits_end and is_awaited(id, now)) and done_settle(id, text, attempt) then
      answers[at] = 'O'
    else
      dones_release()
      if number_of[at] then
        answers[at] = ordinary_settle(id, number_of[at], found[at], order, ARGV[base + 2])
      else
        answers[at] = ack_settle(id, text and record_parse(text), order, ARGV[base + 2])
      end
      is_veiled = is_veiled or answers[at] == 'O' and sub(order, 1, 4) ~= 'DONE'
    end
  end
  return is_veiled
end
end

-- The second result as acks_listed().
function acks_settle()
  local answers = {}
  local is_veiled = ack_count > 0 and acks_listed(answers)
  if group_count > 0 then groups_settle(answers) end
  dones_write()
  if #forgotten > 0 then runs_forget(forgotten) end
  dones_unkey()
  plan_write()
  return table.concat(answers), is_veiled
end
end
