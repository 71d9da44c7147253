-- store/redis/lib_enqueue.lua - new runs: which are taken, and where they are put.
--
-- They stand in ARGV from `from` on, five arguments each, behind those of redis/lib_producers.lua, or of
-- redis/lib_callers.lua where each is a call of its own:
--   record from keep_success_ms on, 'delay_ms|at_ms|expires_ms|priority' or '' for zeros,
--   unique key or '', 'window_ms|content|idempotency key' or '', payload
-- The queue's number grows before anything else is written, and for good: whatever happens on the way, no
-- id is given twice.
-- A periodic run passes the queue's limit: it comes at most once an interval.

local ENQUEUE_STRIDE = 5
local INSTANT_MAX = 10000000000000 -- no instant reaches it
local floor, pack = math.floor, struct.pack

-- ORDER ENQUEUE_COUNTS
local counts = call('HMGET', meta, 'number', 'ghosts', 'kept', 'calm', 'back')

-- An entry of `ready` is an id and the number of the line behind which it comes.
local line_text = string.match(facts[3] or '', '^%d+$') or '0'

-- What has been decided.
local letters, others, ids = {}, {}, {}
local record_puts, payload_puts, unique_puts, key_puts, key_until_puts = {}, {}, {}, {}, {}
local backs, urgents, urgent_levels, due_puts, urgent_due_puts = {}, {}, {}, {}, {}
local claimed, keyed = {}, {}

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

-- The live run that holds `key`, nil when nobody does.
local function unique_holder(key)
  local holder = claimed[key] or call('HGET', unique, key)
  if not holder or claimed[key] then return holder or nil end
  return call('HEXISTS', runs, holder) == 1 and holder or nil
end

-- The record up to created_at_ms of a run with `times`; when it is due; its priority.
-- ORDER RECORD_FIELD: state attempt owner at claimed started losses expires, four more zeros.
local function head_of(times)
  local delay, at_ms, expires_in, level = string.match(times, '^(%d+)|(%d+)|(%d+)|(%d)$')
  at_ms, expires_in = tonumber(at_ms), tonumber(expires_in)
  local due = at_ms > 0 and at_ms or now + tonumber(delay)
  local expires = expires_in > 0 and math.max(due, now) + expires_in or '0'
  local lease = due > now and SCHEDULED .. '|0||' .. due or WAITING .. '|0||0'
  return RECORD_VERSION .. '|' .. lease .. '|0|0|0|' .. expires .. '|0|0|0|0|' .. now_text, due, level
end

local function index_put(id, is_due, due, level)
  if not is_due then
    put(due_puts, due, id)
    if level ~= '0' then put(urgent_due_puts, due, id) end
  elseif level == '0' then
    backs[#backs + 1] = id .. line_text
  else
    urgents[#urgents + 1] = id
    urgent_levels[#urgents] = tonumber(level)
  end
end

local function refuse(letter, id)
  letters[#letters + 1] = letter
  others[#others + 1] = id
end

-- By the clock at its furthest, for one that was set back lets nobody overtake; those of one instant stand as
-- their ids do. The score is that of ready_put() in redis/lib_plan.lua.
local function urgents_write()
  if #urgents == 0 then return end
  local back, entries = tonumber(string.match(counts[5] or '', '^%d+$') or 0), {}
  if back < now or back >= INSTANT_MAX then
    back = now
    call('HSET', meta, 'back', back)
  end
  for at, id in ipairs(urgents) do put(entries, back - urgent_levels[at] * 17592186044416, id) end
  write('ZADD', urgent, entries)
end

-- The first write must be one that a server without memory refuses: nothing is half done then.
local function meta_write()
  call('HINCRBY', meta, 'number', #ids)
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

local function entries_write()
  write('ZADD', scheduled, due_puts)
  write('ZADD', scheduled_urgent, urgent_due_puts)
  write('RPUSH', ready, backs)
  urgents_write()
  if (#backs + #urgents > 0 or is_next_due()) and facts[5] ~= '1' then wake_one() end
end

local function keys_list()
  if #key_puts == 0 then return end
  memory_forget(keys, keys_until, now, #key_puts)
  write('ZADD', keys_until, key_until_puts)
end

-- With the records the runs exist. What tells a repeat is written before them and by the same command:
-- a right that was withdrawn stops neither or both, and whatever happens, no run comes twice.
local function records_write(answers)
  write('HSET', payloads, payload_puts)
  write('HSET', unique, unique_puts)
  write('HSET', keys, key_puts)
  call_remember('0', (counts[1] or 0) + 1, answers, table.concat(others))
  write('HSET', runs, record_puts)
end

local function runs_write(answers)
  meta_write()
  entries_write()
  keys_list()
  call_list(answers)
  records_write(answers)
end

-- Returns one letter a run, or '' when all are new; and the number of the first new one.
-- `ids` has the new runs', `others` those to which keys led.
local function enqueue(from, is_unlimited)
  local first = (tonumber(counts[1] or nil) or 0) + 1
  local prefix, number = id_prefix(), first
  local room = facts[4] and not is_unlimited and facts[4] - live_count(counts[2], counts[3]) or math.huge
  -- Making a number's text is slow; this is the same for the whole batch.
  local fresh_text = RECORD_FRESH .. now_text
  for at = from, #ARGV, ENQUEUE_STRIDE do
    local rest, times, key, idem = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
    local window, content, word, known, known_id
    if idem ~= '' then
      window, content, word = string.match(idem, '^(%d+)|(%x+)|(.*)$')
      known, known_id = key_find(word)
    end
    local holder = not known and key ~= '' and unique_holder(key)
    if known then
      refuse(known == content and 'D' or 'C', known_id)
    elseif holder then
      refuse('U', holder)
    elseif room <= 0 then
      letters[#letters + 1] = 'F'
    else
      local id, text, due, level = id_make(prefix, number), fresh_text, now, '0'
      if times ~= '' then text, due, level = head_of(times) end
      number, room = number + 1, room - 1
      put(record_puts, id, text .. rest)
      put(payload_puts, id, ARGV[at + 4])
      index_put(id, due <= now, due, level)
      if key ~= '' then
        claimed[key] = id
        put(unique_puts, key, id)
      end
      if word then key_put(word, window, content, id) end
      ids[#ids + 1] = id
      letters[#letters + 1] = 'N'
    end
  end
  local answers = #ids == #letters and '' or table.concat(letters)
  if #ids > 0 then runs_write(answers) end
  return answers, first
end
