-- store/redis/list.lua - reads a page of a queue's runs.
-- keys: runs ready urgent scheduled active done cancelled dead meta limited bodies blocks spans block_leases block_ends errors
-- uses: base layout known waiting plan bodies blocks told
-- level: reads
--
-- These are runs in state ARGV[2] from place ARGV[3] and run ARGV[5] on, at most ARGV[4]; for '*', and for
-- several states, from a scan of all, and then about as many: a run may be anywhere in turn while workers
-- claim, a scan of the runs does not mind. It begins with the bodies: an ordinary run may become one with a
-- record meanwhile, and never the other way round.
--
-- ORDER FILTER: ARGV[6] on are a job, a tag, a part of an error, '' for any of these, and the first instant of
-- an enqueue and the one behind the last; ARGV[11] is '1' for the newest first. The parts below meet all runs, and
-- show() leaves out what the filter does not take; so there may be much to look at for a short page, and LOOKS is the
-- bound on that.
--
-- No page goes on by rank: whoever leaves an index would pull those behind him past it. It goes on behind
-- the score and the id of the last entry, which may be gone by then, or behind a number. And where a run
-- may move from one index to another without leaving its state, the other is read later: it may be shown
-- twice then, but not be missed.
-- Reply: next place (0 at the end) and run, then id, record...; empty when nobody has used the queue.

local refusal = layout_check()
if refusal then return refusal end
if ARGV[3] == '0' and not is_known() then return {} end
local now, states, limit = clock(), ARGV[2], tonumber(ARGV[4])
local state = #states == 1 and states or '*'
local job, tag, part_of_error = ARGV[6], ',' .. ARGV[7] .. ',', ARGV[8]
local since, before = tonumber(ARGV[9]), tonumber(ARGV[10])
local has_tag = ARGV[7] ~= ''
local is_filtered = job ~= '' or has_tag or part_of_error ~= '' or since > 0 or before < 10000000000000

-- Where the runs of a state stand has parts, and a place is PART times the parts before it and the place
-- there, 0 for its beginning. Below 2^53.
local PART = 281474976710656
-- Payloads come along with what is read of bodies: so many bytes, and some more, are enough for a page.
local BYTES_MAX = 1048576
local NOBODY = string.rep('\0', 16)
local part, from, after = floor(tonumber(ARGV[3]) / PART), tonumber(ARGV[3]) % PART, ARGV[5]
-- Runs that a call with a filter looks at, and some more.
local LOOKS = 2000
local shown, room, bytes = {0, NOBODY}, limit, 0
local looks = is_filtered and LOOKS or limit

local function is_full()
  return room <= 0 or looks <= 0 or bytes >= BYTES_MAX
end

-- What is told sooner than the fields of a record, or a body, which has no error.
local function is_likely(id, text)
  if not find(text, job, 1, true) or not find(text, ARGV[7], 1, true) then return false end
  if part_of_error == '' then return true end
  local failure = id and call('HGET', errors, id)
  bytes = bytes + (failure and #failure or 0)
  return failure and find(failure, part_of_error, 1, true) ~= nil
end

-- Of what is likely. `tail`: of its record, or its body.
local function is_taken(tail)
  if not is_filtered then return true end
  local created, its_job, tags = match(tail, TAIL_SOUGHT)
  if not created then return false end
  created = tonumber(created)
  return created >= since and created < before and (job == '' or its_job == job)
    and (not has_tag or find(',' .. tags .. ',', tag, 1, true) ~= nil)
end

local function show(id, text)
  shown[#shown + 1] = id
  shown[#shown + 1] = text
  room = room - 1
end

-- So many records are read at once.
local RECORDS = 100

-- Of those that wait the ones with limits move to and fro between the ready order and their limits: they are shown
-- by the index that has all of them, `has_limits` being true, and nowhere else. Those of the list are left out that
-- are ghosts there. How many of `ids` it has looked at: there is room for one at least.
local function records_show(ids, has_limits, is_list)
  for from = 1, #ids, RECORDS do
    local last = math.min(from + RECORDS - 1, #ids)
    local texts = call('HMGET', runs, unpack(ids, from, last))
    for at = from, last do
      local text = texts[at - from + 1]
      text = text and #text <= RECORD_BYTES_MAX and is_likely(ids[at], text) and record_told(text, now)
      local r = text and record_parse(text)
      if r and r.state == state and (not is_list or is_listed(r))
        and (has_limits == nil or (r.behind ~= '0') == has_limits) and is_taken(r.tail) then
        show(ids[at], text)
      end
      looks = looks - 1
      if is_full() then return at end
    end
  end
  return #ids
end

-- The last number that a block can have.
local blocks_end
local function blocks_last()
  if blocks_end then return blocks_end end
  local name = call('ZREVRANGEBYSCORE', spans, '+inf', '-inf', 'LIMIT', 0, 1)[1]
  local b = name and block_load(name)
  blocks_end = b and b.first + #b.chars - 1 or name and math.huge or 0
  return blocks_end
end

-- Behind all blocks no block is looked for.
local function ordinary_at(number, body)
  line_know()
  if number <= line.taken or number <= blocks_last() then return ordinary_of(number, body) end
  local head, at = body_head(body)
  return {id = line_id(number, body_ms(body)), number = number, state = WAITING, body = body, head = head, at = at}
end

-- None has an error.
local function ordinary_show(number, body)
  looks = looks - 1
  bytes = bytes + #body
  if not is_likely(nil, body) or not is_taken(body) then return end
  local o = ordinary_at(number, body)
  if o and o.head and (states == '*' or find(states, o.state, 1, true)) then show(o.id, ordinary_record(o)) end
end

-- Each part: shows what it has from a place and a run on, as far as there is room; the place and the run
-- where it goes on, nil at its end.

-- Makes the scores of urgent runs, which are below 0 (redis/lib_plan.lua), places too.
local SCORE_BASE = 175921860444160

local function score_place(text)
  return math.ceil(tonumber(text)) + SCORE_BASE
end

local function padded(member)
  return sub(member .. NOBODY, 1, 16)
end

local byte = string.byte

-- As the server orders members; Lua's own order goes by the server's locale.
local function is_greater(id, other)
  for at = 1, 16 do
    local mine, its = byte(id, at), byte(other, at)
    if mine ~= its then return mine > its end
  end
  return false
end

-- The rank of the first entry behind a place and a run, at most `last`.
local function rank_behind(key, place, run, last)
  local first = 0
  while first < last do
    local middle = floor((first + last) / 2)
    local entry = call('ZRANGE', key, middle, middle, 'WITHSCORES')
    local at = score_place(entry[2])
    if at > place or at == place and is_greater(padded(entry[1]), run) then last = middle else first = middle + 1 end
  end
  return first
end

-- Entries of a sorted set from rank `first` on and before rank `last`. A score that is none of ours may be no
-- place: none is gone on from.
local function ranks_part(key, first, last, place, run, has_limits)
  if first >= last then return nil end
  if is_full() then return place, run end
  local rank = place == 0 and first or math.max(first, rank_behind(key, place, run, last))
  if rank >= last then return nil end
  local entries, ids = call('ZRANGE', key, rank, math.min(rank + looks, last) - 1), {}
  for at, member in ipairs(entries) do ids[at] = #member == 16 and member or padded(member) end
  local looked = records_show(ids, has_limits)
  local at = score_place(call('ZSCORE', key, entries[looked]))
  if rank + looked >= last or at >= PART then return nil end
  if at < 1 then return 1, NOBODY end
  return at, ids[looked]
end

local function set_part(key, has_limits)
  return function(place, run) return ranks_part(key, 0, call('ZCARD', key), place, run, has_limits) end
end

local LAST = string.rep('\255', 16)

-- How many entries of a set are before a place and a run, which may be there still.
local function ranks_before(key, place, run)
  local count = call('ZCARD', key)
  if place == 0 then return count end
  count = rank_behind(key, place, run, count)
  local entry = call('ZRANGE', key, count - 1, count - 1)[1]
  if count > 0 and padded(entry) == run then return count - 1 end
  return count
end

-- A set from its end to its beginning. What has a score that is none of ours is passed by, or ends it.
local function newest_part(key)
  return function(place, run)
    local count = ranks_before(key, place, run)
    if count == 0 then return nil end
    local entries, ids = call('ZRANGE', key, math.max(count - looks, 0), count - 1), {}
    for at = #entries, 1, -1 do ids[#ids + 1] = padded(entries[at]) end
    local looked = records_show(ids)
    local at = score_place(call('ZSCORE', key, entries[#entries + 1 - looked]))
    if looked == count or at < 1 then return nil end
    if at < PART then return at, ids[looked] end
    return PART - 1, LAST
  end
end

-- So many entries of the list are looked at for the one that was shown last.
local LIST_LOOKS = 1000

-- A place of the list is how many entries follow that of the run; nobody comes to the list again who has
-- left it. The index behind entry `run`, that was followed by `left` entries: pushes at the end have moved it
-- to the front since. When it is gone, so is all that was before it. Else,
-- nil and how many entries follow where the search goes on.
local function index_behind(run, left, length)
  local last = length - left - 1
  if last < 0 then return 0 end
  local first = math.max(last - LIST_LOOKS + 1, 0)
  local entries = call('LRANGE', ready, first, last)
  for at = #entries, 1, -1 do
    if sub(entries[at], 1, 16) == run then return first + at end
  end
  if first > 0 then return nil, length - first end
  return 0
end

local function list_part(place, run)
  local length, index = call('LLEN', ready), 0
  if length == 0 then return nil end
  if is_full() then return place, run end
  if place > 0 then
    local further
    index, further = index_behind(run, place, length)
    if further then return further, run end
  end
  local ids = call('LRANGE', ready, index, index + looks - 1)
  for at = 1, #ids do ids[at] = sub(ids[at], 1, 16) end
  local looked = records_show(ids, false, true)
  local left = length - index - looked
  if left <= 0 then return nil end
  return left, ids[looked]
end

-- So many bodies are read at once.
local BODIES = 16

-- Shows the ordinary runs of `numbers` that are in the state; how many of the numbers it has looked at.
local function numbers_show(numbers)
  local at = 1
  while at <= #numbers and not is_full() do
    local last = math.min(at + math.min(BODIES, room) - 1, #numbers)
    local texts = call('HMGET', bodies, unpack(numbers, at, last))
    for n = 1, last - at + 1 do
      if texts[n] then ordinary_show(numbers[at + n - 1], texts[n]) end
    end
    at = last + 1
  end
  return at - 1
end

local CHARS = {[ACTIVE] = '[01]', [DONE] = '%a'}

-- The block that has `number`, or the first behind it; nil when it cannot be read. And its score, nil when
-- there is none.
local function block_from(number)
  local name = call('ZREVRANGEBYSCORE', spans, number, '-inf', 'LIMIT', 0, 1)[1]
  local b = name and block_load(name)
  if b and number < b.first + #b.chars then return b, number end
  local entry = call('ZRANGEBYSCORE', spans, '(' .. number, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  return entry[1] and block_load(entry[1]), tonumber(entry[2] or nil)
end

local function block_numbers(b, from)
  local numbers, at = {}, find(b.chars, CHARS[state], math.max(from - b.first + 1, 1))
  while at do
    numbers[#numbers + 1] = b.first + at - 1
    at = find(b.chars, CHARS[state], at + 1)
  end
  return numbers
end

-- So many blocks are looked at.
local BLOCKS = 100

-- Blocks in the order of their numbers: their leases and ends change with any of their runs.
local function blocks_part(key)
  return function(number)
    if call('ZCARD', key) == 0 then return nil end
    for _ = 1, BLOCKS do
      local b, score = block_from(number)
      if not score then return nil end
      if is_full() then return number, NOBODY end
      local numbers = b and block_numbers(b, number) or {}
      local looked = numbers_show(numbers)
      if looked < #numbers then return numbers[looked + 1], NOBODY end
      number = math.max(b and b.first + #b.chars or 0, score)
    end
    return number, NOBODY
  end
end

-- Places are numbers; so many of them are looked at, for there may be holes.
local HOLES = 2000

local function line_part(place)
  local facts = call('HMGET', meta, 'held', 'kept', 'line')
  local last = line_count(facts[3])
  line_know()
  place = math.max(place, line.taken + 1)
  if place > last or line_waiting(facts[1], facts[2]) == 0 then return nil end
  if is_full() then return place, NOBODY end
  local numbers = {}
  for number = place, math.min(last, place + math.max(HOLES, looks)) do numbers[#numbers + 1] = number end
  place = place + numbers_show(numbers)
  if place > last then return nil end
  return place, NOBODY
end

local due = (state == WAITING or state == SCHEDULED) and call('ZCOUNT', scheduled, '-inf', now) or 0

-- What is due is promoted to the others that wait, what is in a block gets a record, and so does what is in the
-- line, when somebody waits for its end.
local PARTS = {
  [WAITING] = {
    line_part,
    function(place, run) return ranks_part(scheduled, 0, due, place, run) end,
    set_part(limited, true),
    set_part(urgent, false),
    list_part,
  },
  [SCHEDULED] = {
    function(place, run) return ranks_part(scheduled, due, call('ZCARD', scheduled), place, run) end,
  },
  [ACTIVE] = {blocks_part(block_leases), set_part(active)},
  [DONE] = {blocks_part(block_ends), set_part(done)},
  [CANCELLED] = {set_part(cancelled)},
  [DEAD] = {set_part(dead)},
}
if ARGV[11] == '1' then PARTS = {[DEAD] = {newest_part(dead)}, [CANCELLED] = {newest_part(cancelled)}} end

local function page_of_state()
  local parts = PARTS[state]
  while parts[part + 1] do
    from, after = parts[part + 1](from, after)
    if from then break end
    part, from, after = part + 1, 0, NOBODY
  end
  if parts[part + 1] then shown[1], shown[2] = part * PART + from, after end
  return shown
end

-- So many bodies at once, for their payloads come along.
local SCAN_BODIES = 100

local function scan(key, count)
  local page = call('HSCAN', key, string.format('%.0f', from), 'COUNT', count)
  from = tonumber(page[1])
  return page[2]
end

local function bodies_scan()
  local fields = scan(bodies, math.min(limit, SCAN_BODIES))
  for at = 1, #fields, 2 do
    if find(fields[at], '^[1-9]%d*$') and #fields[at] <= 14 then ordinary_show(tonumber(fields[at]), fields[at + 1]) end
  end
end

local function record_show(id, text)
  looks = looks - 1
  if not is_likely(id, text) then return end
  text = record_told(text, now)
  if states == '*' and not is_filtered then return show(id, text) end
  local r = record_parse(text)
  if r and (states == '*' or find(states, r.state, 1, true)) and is_taken(r.tail) then show(id, text) end
end

local function runs_scan()
  local fields = scan(runs, math.max(room, 1))
  for at = 1, #fields, 2 do
    if #fields[at] == 16 and #fields[at + 1] <= RECORD_BYTES_MAX then record_show(fields[at], fields[at + 1]) end
  end
end

local function page_of_all()
  if part == 0 then
    repeat bodies_scan() until from == 0 or is_full()
    shown[1] = from > 0 and from or PART
    if from > 0 or is_full() then return shown end
  end
  repeat runs_scan() until from == 0 or is_full()
  shown[1] = from > 0 and PART + from or 0
  return shown
end

if state == '*' then return page_of_all() end
return page_of_state()
