-- store/redis/lib_enqueue.lua - new runs: which are taken, and where they are put.
--
-- They stand in ARGV from `from` on, six arguments each, behind those of redis/lib_producers.lua, or of
-- redis/lib_callers.lua where each is a call of its own:
--   record from keep_success_ms on, 'delay_ms|at_ms|expires_ms|priority' or '' for zeros,
--   'states|window_ms or 0|1 to replace, 2 to refuse a bound call, else 0|unique key' or '', 'window_ms|content|idempotency key' or '', payload,
--   its limits, as they were declared: 'KIND|COUNT|PER|BURST|NAME=KEY', joined by ';', or ''
-- Those with a unique key never go to the list, where nobody could find them again who replaces them.
-- The queue's number grows before anything else is written, and for good: whatever happens on the way, no
-- id is given twice.
-- A periodic run passes the queue's limit: it comes at most once an interval.

local ENQUEUE_STRIDE = 6
local INSTANT_MAX = 10000000000000 -- no instant reaches it
local floor, pack = math.floor, struct.pack

-- ORDER ENQUEUE_COUNTS
local counts = call('HMGET', meta, 'number', 'ghosts', 'kept', 'calm', 'back', 'limits')

limits_noted = tonumber(counts[6] or nil)

-- An entry of `ready` is an id and the number of the line behind which it comes.
local line_text = string.match(facts[3] or '', '^%d+$') or '0'

-- What has been decided.
local letters, others, ids = {}, {}, {}
local record_puts, payload_puts, key_puts, key_until_puts = {}, {}, {}, {}
local backs, urgents, urgent_levels, due_puts, urgent_due_puts = {}, {}, {}, {}, {}
local keyed = {}
-- In a call that may replace runs: those with a unique key that are new or are replaced, by their ids and in order: record,
-- payload, and where a run stood that was there before. `is_moved` when it stands elsewhere now.
local drafts, draft_list = {}, {}
local is_replacing = false
local due_drops, urgent_due_drops, urgent_drops = {}, {}, {}
local is_limited = false -- one of them has limits
local limit_puts = {} -- what is told anew: name, text, whether the limit was known
-- Set by redis/enqueue_batch.lua: writes that the new runs are members.
local members_write

local function put(list, a, b)
  local count = #list
  list[count + 1] = a
  list[count + 2] = b
end

-- core/run_id.h. Numbers of Lua are exact below 2^53; what is packed stays below 2^32.
local function id_prefix()
  return pack('>I2I4I2I2', floor(now / 4294967296), now % 4294967296, 28672 + floor(salt / 16384),
    32768 + salt % 16384)
end

local function id_make(prefix, number)
  return prefix .. pack('>I2I4', floor(number / 4294967296), number % 4294967296)
end

-- Content and id of the run that came with an idempotency key, nil when it is not remembered.
local function key_find(key)
  local text = keyed[key] or call('HGET', keys, key)
  if not text then return nil end
  local until_ms, content, id = string.match(text, KEY_ENTRY)
  if until_ms and tonumber(until_ms) > now then return content, id end
end

local function key_put(key, window, content, id)
  local until_text = tostring(now + tonumber(window))
  local text = until_text .. '|' .. content .. '|' .. id
  keyed[key] = text
  put(key_puts, key, text)
  put(key_until_puts, until_text, key)
end

-- The record of a run with `times` up to `behind`; when it is due; its priority.
-- ORDER RECORD_FIELD: state attempt owner at claimed started losses expires, four more zeros.
local function head_of(times)
  local delay, at_ms, expires_in, level = string.match(times, '^(%d+)|(%d+)|(%d+)|(%d)$')
  at_ms, expires_in = tonumber(at_ms), tonumber(expires_in)
  local due = at_ms > 0 and at_ms or now + tonumber(delay)
  local expires = expires_in > 0 and math.max(due, now) + expires_in or '0'
  local lease = due > now and SCHEDULED .. '|0||' .. due or WAITING .. '|0||0'
  return RECORD_VERSION .. '|' .. lease .. '|0|0|0|' .. expires .. '|0|0|0|0|', due, level
end

local function index_put(id, is_due, due, level, is_keyed)
  if not is_due then
    put(due_puts, due, id)
    if level ~= '0' then put(urgent_due_puts, due, id) end
  elseif level == '0' and not is_keyed then
    backs[#backs + 1] = id .. line_text
  else
    urgents[#urgents + 1] = id
    urgent_levels[#urgents] = tonumber(level)
  end
end

-- By the clock at its furthest, for one that was set back lets nobody overtake; those of one instant stand as
-- their ids do.
local function back_of()
  local back = tonumber(string.match(counts[5] or '', '^%d+$') or 0)
  return (back < now or back >= INSTANT_MAX) and now or back
end

-- Limits.

-- The gates of runs that told the same, as their records name them; none when something else was told meanwhile.
local told_names = {}

-- What is told of a limit counts for the runs that follow. Those that are parked already are looked at again, as
-- redis/limit_set.lua does.
local function limit_tell(name, told)
  local l = limit_of(name)
  if l.told == told then return end
  local set = l.kind == string.sub(told, 1, 1) and l.set or '0|0|0'
  local text = told .. '|' .. set
  told_names, gate_lists = {}, {}
  local is_known = l.told ~= nil
  limit_puts[#limit_puts + 1] = {name = name, text = text, is_known = is_known}
  for field in pairs(l) do l[field] = nil end
  for field, value in pairs(limit_read(text)) do l[field] = value end
  if is_known then look_soonest = 0 end
end

local function limits_write()
  for _, put in ipairs(limit_puts) do
    call('HSET', limits, put.name, put.text)
    if put.is_known then
      call('HDEL', limits, put.name .. '\0')
      call('ZADD', refills, 0, put.name .. '\0')
    end
  end
end

local function gates_told(text)
  local names = told_names[text]
  if names then return names end
  local list = {}
  is_limited = true
  for told, gate in string.gmatch(text, '([CRFN]|%d+|%d+|%d+)|([^;]+)') do
    limit_tell(string.match(gate, '^[^=]*'), told)
    list[#list + 1] = gate
  end
  names = table.concat(list, ';')
  told_names[text] = names
  return names
end

-- Where a run that is due stands: behind so many limits less one, as its record says it. One that goes to the list
-- stands there by its time, another by the score of urgents_write().
local function gates_arrive(id, names, level, is_keyed)
  local priority, list, score = tonumber(level), gates_named(names), nil
  score = ((priority > 0 or is_keyed) and back_of() or now) - priority * 17592186044416
  limited_put(id, score)
  local turned = turn_score(score, gates_turn(list))
  for at, g in ipairs(list) do
    if not gate_lets_in(g, priority, turned) then
      gates_park(list, at, id, score, true)
      return at + 1
    end
  end
  gates_stand(list, id, score, 1)
  return 1
end

-- It waits, and leaves its place.
local function gates_leave(id, r)
  local list, score, behind = gates_named(string.match(r.tail, TAIL_limits)), limited_score(id), tonumber(r.behind)
  is_limited = true
  if behind > 1 then gates_park(list, behind - 1, id, score, false) else gates_stand(list, id, score, -1) end
  limited_put(id, false)
end

-- Its answer is a run that is there: it was refused for it, or replaces it.
local function answer(letter, id)
  letters[#letters + 1] = letter
  others[#others + 1] = id
end

-- The score is that of ready_put() in redis/lib_plan.lua.
local function urgents_write()
  if #urgents == 0 then return end
  local back, entries = back_of(), {}
  if counts[5] ~= tostring(back) then call('HSET', meta, 'back', back) end
  local scores = {} -- as texts, by the priority
  for at, id in ipairs(urgents) do
    local level = urgent_levels[at]
    scores[level] = scores[level] or string.format('%.0f', back - level * 17592186044416)
    put(entries, scores[level], id)
  end
  write('ZADD', urgent, entries)
end

local function replaced_count()
  local count = 0
  for _, draft in ipairs(draft_list) do
    if draft.was then count = count + 1 end
  end
  return count
end

-- The first write must be one that a server without memory refuses: nothing is half done then.
local function meta_write()
  call('HINCRBY', meta, 'number', #ids)
  if #draft_list > 0 then call('HINCRBY', meta, 'replaced', replaced_count()) end
  layout_write()
  if counts[4] then call('HDEL', meta, 'calm') end
end

-- Whether one of the delayed comes due before all others: who waits for work may know of none so soon.
local function is_next_due()
  local next = #due_puts > 0 and call('ZRANGEBYSCORE', scheduled, '-inf', '+inf', 'LIMIT', 0, 1)[1]
  for at = 2, #due_puts, 2 do
    if due_puts[at] == next then return true end
  end
  return false
end

-- The same of a gate.
local function is_next_look()
  if not look_soonest then return false end
  local first = call('ZRANGE', refills, 0, 0, 'WITHSCORES')[2]
  return first and look_soonest <= tonumber(first)
end

local function entries_write()
  write('ZADD', scheduled, due_puts)
  write('ZADD', scheduled_urgent, urgent_due_puts)
  write('RPUSH', ready, backs)
  urgents_write()
  if is_limited then slots_open() end
  if (#backs + #urgents > 0 or is_next_due() or is_next_look()) and not is_paused then wake_one() end
end

local function keys_list()
  if #key_puts == 0 then return end
  memory_forget(keys, keys_until, now, #key_puts)
  write('ZADD', keys_until, key_until_puts)
end

-- Unique keys.

local function level_of(r)
  return string.match(r.tail, TAIL_priority)
end

local function draft_put(id, r, payload, was)
  local draft = drafts[id]
  if not draft then
    draft = {id = id, was = was, is_moved = false}
    drafts[id] = draft
    draft_list[#draft_list + 1] = draft
  end
  draft.r, draft.payload = r, payload
  unique_runs[id] = r
  return draft
end

local function window_put(rest, span)
  if span == '0' then return rest end
  return (string.gsub(rest, REST_WINDOW, '%1' .. now + tonumber(span), 1))
end

local function key_take(key, id, rest, states)
  unique_set(key, states == '0' and id .. string.match(rest, REST_UNTIL) or id)
end

-- The record of a run with a unique key, which has no limits yet, in a call that may replace runs.
local function fresh_parse(times, rest, span)
  local text = RECORD_FRESH
  if times ~= '' then text = head_of(times) .. '0|' end
  return record_parse(text .. now_text .. window_put(rest, span))
end

-- Its limits, and where it stands by them.
local function draft_arrive(id, r, limited_by)
  if limited_by == '' then return end
  local names = gates_told(limited_by)
  r.behind = r.state == WAITING and gates_arrive(id, names, level_of(r), true) or 1
end

-- The run that holds a key, as it is: nil when it may not be replaced.
local function replaceable(holder)
  local r = unique_run(holder)
  return r and (r.state == SCHEDULED or r.state == WAITING) and tonumber(r.attempt) == 0 and r or nil
end

-- Whether it leaves its key to the run that cannot replace it any more: a worker was given it, it waits again, and
-- its states, which alone keep the key, are not that of one at work.
local function is_yielding(holder, key)
  local r = unique_run(holder)
  return #unique_entry(key) == 16 and r.state ~= ACTIVE and tonumber(string.match(r.tail, TAIL_unique_while)) < UNIQUE_BIT[ACTIVE]
end

-- Makes of `holder` what was wanted in its place. One that waits, with the same limits, and may go on at once stays
-- where it is.
local function replace(holder, old, fresh, payload, limited_by)
  local waits = old.state == WAITING or tonumber(old.at_ms) <= now
  local stays = waits and fresh.state == WAITING and level_of(old) == level_of(fresh)
    and string.match(old.tail, TAIL_limits) == string.match(fresh.tail, TAIL_limits)
  local draft = draft_put(holder, fresh, payload, {state = old.state, level = level_of(old), behind = old.behind})
  if stays then
    fresh.state, fresh.at_ms, fresh.behind = old.state, old.at_ms, old.behind
    if limited_by ~= '' then gates_told(limited_by) end
  else
    if old.state == WAITING and tonumber(old.behind) > 0 then gates_leave(holder, old) end
    draft_arrive(holder, fresh, limited_by)
  end
  draft.is_moved = draft.is_moved or not stays
  fresh.tail = string.match(old.tail, '^%d+') .. string.match(fresh.tail, '|.*$')
end

-- Whether it has an entry in `urgent`, but for damage.
local function is_in_urgent(r)
  return r.state == WAITING and tonumber(r.behind) < 2
end

-- The entry of a run that stood elsewhere before.
local function place_drop(draft)
  local was, id, state = draft.was, draft.id, draft.r.state
  if is_in_urgent(was) and not is_in_urgent(draft.r) then urgent_drops[#urgent_drops + 1] = id end
  if was.state ~= SCHEDULED then return end
  if state ~= SCHEDULED then due_drops[#due_drops + 1] = id end
  if was.level ~= '0' and (state ~= SCHEDULED or level_of(draft.r) == '0') then
    urgent_due_drops[#urgent_due_drops + 1] = id
  end
end

local function drafts_settle()
  for _, draft in ipairs(draft_list) do
    local r, id = draft.r, draft.id
    put(record_puts, id, record_text(r))
    put(payload_puts, id, draft.payload)
    local is_indexed = r.state ~= WAITING or is_in_urgent(r)
    if is_indexed and (not draft.was or draft.is_moved) then
      index_put(id, r.state == WAITING, r.at_ms, level_of(r), true)
    end
    if draft.was then place_drop(draft) end
  end
end

local function uniques_write()
  local puts, _, window_puts, window_drops = uniques_settle()
  if #window_puts > 0 then memory_forget(unique, unique_until, now, #window_puts) end
  write('ZREM', unique_until, window_drops)
  write('ZADD', unique_until, window_puts)
  write('HSET', unique, puts)
end

local function places_drop()
  write('ZREM', urgent, urgent_drops)
  write('ZREM', scheduled, due_drops)
  write('ZREM', scheduled_urgent, urgent_due_drops)
end

-- With the records the runs exist. What tells a repeat is written before them and by the same command:
-- a right that was withdrawn stops neither or both, and whatever happens, no run comes twice.
local function records_write(answers)
  write('HSET', payloads, payload_puts)
  if next(unique_touched) then uniques_write() end
  write('HSET', keys, key_puts)
  call_remember('0', (counts[1] or 0) + 1, answers, table.concat(others))
  write('HSET', runs, record_puts)
end

local function runs_write(answers)
  drafts_settle()
  meta_write()
  entries_write()
  keys_list()
  call_list(answers)
  if members_write then members_write(ids) end
  records_write(answers)
  places_drop()
  if is_limited then slots_close() end
  if event_note then events_write(now) end
end

-- The record up to created_at_ms of a run that is not like most; when it is due, nil for one that is parked; its priority.
local fresh_head = RECORD_VERSION .. '|' .. WAITING .. '|0||0|0|0|0|0|0|0|0|0|'
local function run_begin(id, times, limited_by, is_keyed)
  local head, due, level, behind = fresh_head, now, '0', 0
  if times ~= '' then head, due, level = head_of(times) end
  if limited_by ~= '' then
    local names = gates_told(limited_by)
    behind = due <= now and gates_arrive(id, names, level, is_keyed) or 1
  end
  return head .. behind .. '|' .. now_text, behind < 2 and due or nil, level
end

-- The unique keys of the call are looked for in one go; and whether a run of it replaces others.
local function keys_look(from)
  local wanted = {}
  for at = from + 2, #ARGV, ENQUEUE_STRIDE do
    if ARGV[at] ~= '' then
      local replaces, key = string.match(ARGV[at], '^%d|%d+|([012])|(%x+)$')
      wanted[#wanted + 1] = key
      is_replacing = is_replacing or replaces == '1'
    end
  end
  if #wanted > 1 then uniques_read(wanted) end
end

-- Of a bound call: whether a run is refused.
local function is_held(from)
  for at, letter in ipairs(letters) do
    local kept = ARGV[from + (at - 1) * ENQUEUE_STRIDE + 2]
    if letter == 'F' or letter == 'C' or letter == 'U' and string.match(kept, '^%d|%d+|2') then return true end
  end
  return false
end

-- Those that would have come are held back; the others' answers stay, but that one of these is in the way
-- is told by zeroes.
local function letters_hold()
  local rest, held = {}, {}
  local at = 0
  for _, id in ipairs(ids) do held[id] = true end
  for i, letter in ipairs(letters) do
    if letter ~= 'N' and letter ~= 'F' then
      at = at + 1
      if letter ~= 'R' then rest[#rest + 1] = held[others[at]] and string.rep('\0', 16) or others[at] end
    end
    if letter == 'N' or letter == 'R' then letters[i] = 'H' end
  end
  others = rest
  return table.concat(letters)
end

-- Returns one letter a run, or '' when all are new; and the number of the first new one.
-- `ids` has the new runs', `others` those to which keys led. Of a call that is bound nothing is written when
-- one of its runs is refused.
local function enqueue(from, is_unlimited, is_bound)
  local first = (tonumber(counts[1] or nil) or 0) + 1
  local prefix, number = id_prefix(), first
  local room = facts[4] and not is_unlimited and facts[4] - live_count(counts[2], counts[3]) or math.huge
  -- Making a number's text is slow; this is the same for the whole batch.
  local fresh_text = RECORD_FRESH .. now_text
  keys_look(from)
  for at = from, #ARGV, ENQUEUE_STRIDE do
    local rest, times, kept, idem = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
    local window, content, word, known, known_id, states, span, replaces, key, holder, old
    if idem ~= '' then
      window, content, word = string.match(idem, '^(%d+)|(%x+)|(.*)$')
      known, known_id = key_find(word)
    end
    if kept ~= '' and not known then
      states, span, replaces, key = string.match(kept, '^(%d)|(%d+)|([012])|(%x+)$')
      holder = unique_holder(key, now)
      old = holder and replaces == '1' and replaceable(holder)
      if holder and replaces == '1' and not old and is_yielding(holder, key) then holder = nil end
    end
    local limited_by = ARGV[at + 5]
    if known then
      answer(known == content and 'D' or 'C', known_id)
    elseif old then
      local fresh = fresh_parse(times, rest, span)
      replace(holder, old, fresh, ARGV[at + 4], limited_by)
      key_take(key, holder, string.match(fresh.tail, '|(.*)$'), states)
      if word then key_put(word, window, content, holder) end
      answer('R', holder)
      if event_note then event_note('U', holder, '0', string.match(rest, REST_JOB)) end
    elseif holder then
      answer('U', holder)
    elseif room <= 0 then
      letters[#letters + 1] = 'F'
    else
      local id = id_make(prefix, number)
      number, room = number + 1, room - 1
      if key and is_replacing then
        local r = fresh_parse(times, rest, span)
        draft_put(id, r, ARGV[at + 4])
        draft_arrive(id, r, limited_by)
        key_take(key, id, window_put(rest, span), states)
      else
        local text, due, level = fresh_text, now, '0'
        if times ~= '' or limited_by ~= '' then text, due, level = run_begin(id, times, limited_by, key) end
        if key then
          rest = window_put(rest, span)
          unique_texts[id] = text .. rest
          key_take(key, id, rest, states)
        end
        put(record_puts, id, text .. rest)
        put(payload_puts, id, ARGV[at + 4])
        if due then index_put(id, due <= now, due, level, key) end
      end
      if word then key_put(word, window, content, id) end
      ids[#ids + 1] = id
      letters[#letters + 1] = 'N'
      if event_note then event_note('N', id, '0', string.match(rest, REST_JOB)) end
    end
  end
  if is_bound and is_held(from) then
    events_told.count = 0
    return letters_hold(), first
  end
  limits_write()
  local answers = #ids == #letters and '' or table.concat(letters)
  if #ids > 0 or #draft_list > 0 then runs_write(answers) end
  return answers, first
end
