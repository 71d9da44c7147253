-- store/redis/lib_plan.lua - what a script has decided, written at once.
--
-- It is collected so that each command runs once for the whole batch. plan_write() carries it out and
-- starts over.

local record_puts, due_puts, lease_puts, done_puts, dead_puts, cancelled_puts = {}, {}, {}, {}, {}, {}
local text_puts, result_puts = {}, {}
local lease_drops, due_drops, urgent_drops, payload_drops, key_drops = {}, {}, {}, {}, {}
local urgent_due_puts, urgent_due_drops = {}, {}
local backs, fronts, urgents = {}, {}, {}
local counts = {}

local function put(list, a, b)
  local count = #list
  list[count + 1] = a
  list[count + 2] = b
end

local function count(name, by)
  counts[name] = (counts[name] or 0) + by
end

local function priority_of(r)
  return tonumber(string.match(r.tail, TAIL_priority))
end

-- Those with a priority stand in a set of their own too, to be found behind many that are due.
local function due_put(id, r)
  put(due_puts, r.at_ms, id)
  if priority_of(r) > 0 then put(urgent_due_puts, r.at_ms, id) end
end

-- `r` may be nil: nothing is known of it.
local function due_drop(id, r)
  due_drops[#due_drops + 1] = id
  if not r or priority_of(r) > 0 then urgent_due_drops[#urgent_due_drops + 1] = id end
end

-- Makes `id` ready. Priority 0 lives in a list; the others in one sorted set whose score
-- holds priority and order together: 9 * 2^40 + seq is far below 2^53.
local function ready_put(id, r, is_front)
  local priority = priority_of(r)
  if priority == 0 then
    local list = is_front and fronts or backs
    list[#list + 1] = id
  else
    local order = is_front and call('HINCRBY', meta, 'front', -1) or call('HINCRBY', meta, 'back', 1)
    put(urgents, order - priority * 1099511627776, id)
  end
end

local function unique_release(id, key)
  if key ~= '' and call('HGET', unique, key) == id then key_drops[#key_drops + 1] = key end
end

-- Ends the life of `id`: `until_ms` is when the run is forgotten.
local function finish(id, r, state, until_ms)
  r.state, r.at_ms = state, until_ms
  unique_release(id, string.match(r.tail, TAIL_unique_key))
  if state == DONE then
    put(done_puts, until_ms, id)
    payload_drops[#payload_drops + 1] = id
    count('done', 1)
  elseif state == CANCELLED then
    put(cancelled_puts, until_ms, id)
    count('cancelled', 1)
  else
    put(dead_puts, until_ms, id)
    count('dead', 1)
  end
end

local function keep_until(r, now, field)
  return now + tonumber(string.match(r.tail, field))
end

local function is_exhausted(r)
  return r.failures + r.crashes >= tonumber(string.match(r.tail, TAIL_attempts_max))
    or tonumber(r.crash_streak) >= CRASH_STREAK_MAX or tonumber(r.losses) >= LOSSES_MAX
end

local function is_suspect(r)
  return tonumber(r.losses) >= SUSPECT_LOSSES
end

local function charge(r, event)
  r.failures = r.failures + (FAILURES[event] or 0)
  r.losses = r.losses + (LOSSES[event] or 0)
  if CRASHES[event] then
    r.crashes = r.crashes + CRASHES[event]
    r.crash_streak = r.crash_streak + CRASHES[event]
  elseif FAILURES[event] then
    r.crash_streak = 0
  end
end

-- The state that `event` leads to, counters charged: culex__run_apply in Lua.
local function apply(r, event, is_delayed)
  local to = NEXT[r.state .. '_' .. event]
  charge(r, event)
  local is_charged = event == 'FAIL' or event == 'CRASH' or event == 'LOSS'
  if r.cancel == '1' and (is_charged or event == 'RELEASE') then return CANCELLED end
  if is_charged and is_exhausted(r) then return DEAD end
  if event == 'RELEASE' and is_delayed then return SCHEDULED end
  return to
end

-- Takes an active run from its holder by `event` and puts it where the rules say. `doubt` is 1 when
-- the holder vanished, else 0.
local function leave(id, r, event, delay, now, doubt)
  local to = apply(r, event, delay > 0)
  lease_drops[#lease_drops + 1] = id
  r.timeout_from_ms, r.started = 0, 0
  if to == DONE then
    finish(id, r, to, keep_until(r, now, TAIL_keep_success_ms))
  else
    r.owner = ''
    if to == DEAD then
      finish(id, r, to, keep_until(r, now, TAIL_keep_failure_ms))
    elseif to == CANCELLED then
      finish(id, r, to, keep_until(r, now, TAIL_keep_success_ms))
    elseif to == SCHEDULED then
      r.state, r.at_ms = to, now + math.max(delay, 0)
      due_put(id, r)
    else
      r.state, r.at_ms, r.started = to, 0, doubt
      ready_put(id, r, event ~= 'LOSS' or not is_suspect(r))
    end
  end
  put(record_puts, id, record_text(r))
end

-- Takes an active run from a holder that is gone. Only what had started can be to blame.
local function vanish(id, r, how, now)
  local is_loss = r.started == '1'
  if is_loss then
    count('lost', 1)
    put(text_puts, id, how .. ' before the worker said how the run ended (loss ' .. r.losses + 1 .. ' of '
      .. LOSSES_MAX .. ')')
  end
  leave(id, r, is_loss and 'LOSS' or 'RELEASE', 0, now, 1)
end

-- In the ORDER of redis/lib_base.lua; texts do no harm before their records.
local function plan_write()
  write('HSET', errors, text_puts)
  write('HSET', results, result_puts)
  write('ZADD', active, lease_puts)
  write('ZADD', scheduled, due_puts)
  write('ZADD', scheduled_urgent, urgent_due_puts)
  write('RPUSH', ready, backs)
  write('LPUSH', ready, fronts)
  write('ZADD', urgent, urgents)
  write('HSET', runs, record_puts)
  write('ZADD', done, done_puts)
  write('ZADD', dead, dead_puts)
  write('ZADD', cancelled, cancelled_puts)
  write('ZREM', active, lease_drops)
  write('ZREM', scheduled, due_drops)
  write('ZREM', scheduled_urgent, urgent_due_drops)
  write('ZREM', urgent, urgent_drops)
  write('HDEL', payloads, payload_drops)
  write('HDEL', unique, key_drops)
  for name, by in pairs(counts) do call('HINCRBY', meta, name, by) end
  record_puts, due_puts, lease_puts, done_puts, dead_puts, cancelled_puts = {}, {}, {}, {}, {}, {}
  text_puts, result_puts = {}, {}
  lease_drops, due_drops, urgent_drops, payload_drops, key_drops = {}, {}, {}, {}, {}
  urgent_due_puts, urgent_due_drops = {}, {}
  backs, fronts, urgents = {}, {}, {}
  counts = {}
end
