-- store/redis/lib_plan.lua - what a script has decided, written at once.
--
-- It is collected so that each command runs once for the whole batch. plan_write() carries it out and
-- starts over. Its lists, each made when it is first needed:
--   field and value   text_puts (errors) result_puts payload_puts body_puts record_puts block_puts
--   score and member  lease_puts due_puts urgent_due_puts urgents done_puts dead_puts cancelled_puts
--                     span_puts block_lease_puts block_end_puts
--   from redis/lib_unique.lua   unique_puts window_puts window_drops, and key_drops
--   base and name     fronts: become urgents
--   names             backs (entries of ready) lease_drops due_drops urgent_due_drops urgent_drops payload_drops body_drops
--                     key_drops (of unique) block_drops (from all four keys) block_lease_drops
--                     block_end_drops

local plan, counts = {}, {}
-- Whether `calm` may stand in meta: whoever plans anything takes it away.
local is_calm = true
-- Set by redis/lib_blocks.lua: plans what has become of the blocks.
local blocks_settle
-- Set by redis/lib_parking.lua, for runs with limits; and whether this script has met one.
local place_enter, place_settle, place_leave, places_open, places_close
local is_limited = false
-- Set by redis/lib_waits.lua where somebody may wait for ends: tells of one, and until when its record is kept then.
local waits_end
-- Set by redis/lib_batch_ends.lua where there may be batches: counts the end of a member, and writes what that came to.
local batch_end, batches_settle

local function plan_put(name, a, b)
  local list = plan[name]
  if not list then
    list = {}
    plan[name] = list
  end
  local count = #list
  list[count + 1] = a
  list[count + 2] = b
end

local function plan_add(name, a)
  local list = plan[name]
  if list then list[#list + 1] = a else plan[name] = {a} end
end

local function count(name, by)
  counts[name] = (counts[name] or 0) + by
end

local function priority_of(r)
  return tonumber(string.match(r.tail, TAIL_priority))
end

-- Those with a priority stand in a set of their own too, to be found behind many that are due.
local function due_put(id, r)
  plan_put('due_puts', r.at_ms, id)
  if priority_of(r) > 0 then plan_put('urgent_due_puts', r.at_ms, id) end
end

-- `r` may be nil: nothing is known of it.
local function due_drop(id, r)
  plan_add('due_drops', id)
  if not r or priority_of(r) > 0 then plan_add('urgent_due_drops', id) end
end

-- Whether a waiting run of priority 0 that is not in `urgent`, and not parked, has its entry in `ready`: not one that
-- was moved out of it, nor one that has been granted before.
local function is_listed(r)
  return r.attempt == '0' and r.timeout_from_ms == '0'
end

-- Takes a run that waits, or is scheduled, out of the index where it stands. Finding it in `ready` would take a
-- walk: there it leaves a ghost, of which its record knows from then on. One that is parked has no such entry.
local function index_leave(id, r)
  if r.state == SCHEDULED then
    due_drop(id, r)
  elseif call('ZSCORE', urgent, id) then
    plan_add('urgent_drops', id)
  elseif tonumber(r.behind) < 2 then
    r.timeout_from_ms = 1
    count('ghosts', 1)
  end
end

local function ready_at(id, score)
  if not (is_limited and place_settle(id, score)) then plan_put('urgents', score, id) end
end

-- Makes `id` ready: among those of its priority it stands as what became ready at the instant `at_ms`, in
-- front of all without one. The score holds priority and instant together: 9 * 2^44 + 10^13 is far below 2^53.
local function ready_put(id, r, at_ms)
  local base = priority_of(r) * 17592186044416
  if r.behind ~= '0' then place_enter(id, r, (at_ms or -8796093022207) - base) end
  if at_ms then ready_at(id, at_ms - base) else plan_put('fronts', base, id) end
end

-- Of those in front the last one is the first.
local function fronts_settle()
  local list = plan.fronts
  if not list then return end
  local order = call('HINCRBY', meta, 'front', -#list / 2)
  for at = 1, #list, 2 do ready_at(list[at + 1], order + (#list - at - 1) / 2 - list[at]) end
end

-- Ends the life of `id`: `until_ms` is when the run is forgotten.
local function finish(id, r, state, until_ms)
  if r.behind ~= '0' then
    place_leave(id, r)
    r.behind = '1'
  end
  if waits_end then until_ms = waits_end(id, until_ms) end
  if batch_end then batch_end(id, state == DONE and 'done' or state == DEAD and 'dead' or 'cancelled') end
  if event_note then event_note(state == DONE and 'D' or state == DEAD and 'X' or 'C', id, r.attempt) end
  r.state, r.at_ms = state, until_ms
  local key = string.match(r.tail, TAIL_unique_key)
  if key ~= '' then
    unique_runs[id] = r
    unique_release(id, key)
  end
  if state == DONE then
    plan_put('done_puts', until_ms, id)
    plan_add('payload_drops', id)
    count('done', 1)
  elseif state == CANCELLED then
    plan_put('cancelled_puts', until_ms, id)
    count('cancelled', 1)
  else
    plan_put('dead_puts', until_ms, id)
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

-- When the time for retries is over of a run whose attempt ends now, not charged yet: culex__run_retry_until_ms
-- in Lua; nil for 0.
local function retry_until(r, event, now)
  local span = string.match(r.tail, TAIL_retry_for_ms)
  if span == '0' then return nil end
  if r.failures + r.crashes + r.losses > 0 then return tonumber(r.expires_at_ms) end
  if FAILURES[event] or CRASHES[event] or LOSSES[event] then return now + tonumber(span) end
end

-- culex__run_late_text in Lua.
local function late_text(text)
  local late = 'the retry deadline has passed'
  if text == '' then return late end
  text = late .. ': ' .. text
  if #text <= ERROR_TEXT_BYTES_MAX then return text end
  local last = ERROR_TEXT_BYTES_MAX
  while string.find(text, '^[\128-\191]', last + 1) do last = last - 1 end
  return string.sub(text, 1, last)
end

-- Says why `id` is dead, before what is planned to be said of its last failure, or was said before.
local function late_tell(id)
  local texts = plan.text_puts or {}
  local text = texts[#texts - 1] == id and texts[#texts] or call('HGET', errors, id) or ''
  plan_put('text_puts', id, late_text(text))
end

-- The state that `event` leads to, counters charged: culex__run_apply in Lua; and whether time alone has
-- made it dead.
local function apply(r, event, is_delayed, is_late)
  local to = NEXT[r.state .. '_' .. event]
  charge(r, event)
  local is_charged = event == 'FAIL' or event == 'CRASH' or event == 'LOSS'
  if r.cancel == '1' and (is_charged or event == 'RELEASE') then return CANCELLED end
  if is_charged and is_exhausted(r) then return DEAD end
  if is_charged and is_late then return DEAD, true end
  if event == 'RELEASE' and is_delayed then return SCHEDULED end
  return to
end

-- How an attempt that was no success is told (redis/lib_events.lua), before what it makes of the run.
local EVENT_LETTERS = {FAIL = 'F', DISCARD = 'F', CRASH = 'K', LOSS = 'L', RELEASE = 'R'}

-- Takes an active run from its holder by `event` and puts it where the rules say. `doubt` is 1 when
-- the holder vanished, else 0. What has begun once lives on without its expiry, but for the time for its
-- retries; every end but a RELEASE says that it has, and that one when `has_begun`.
local function leave(id, r, event, delay, now, doubt, has_begun)
  local until_ms, wait = retry_until(r, event, now), event == 'LOSS' and 0 or math.max(delay, 0)
  local to, is_overdue = apply(r, event, delay > 0, until_ms and now + wait >= until_ms)
  plan_add('lease_drops', id)
  if event_note and EVENT_LETTERS[event] then event_note(EVENT_LETTERS[event], id, r.attempt) end
  r.timeout_from_ms, r.started = 0, 0
  if to == DONE then
    finish(id, r, to, keep_until(r, now, TAIL_keep_success_ms))
  else
    r.owner = ''
    if to == DEAD then
      if is_overdue then late_tell(id) end
      finish(id, r, to, keep_until(r, now, TAIL_keep_failure_ms))
    elseif to == CANCELLED then
      finish(id, r, to, keep_until(r, now, TAIL_keep_success_ms))
    else
      local had_expiry = tonumber(r.expires_at_ms) ~= 0
      if event ~= 'RELEASE' or has_begun then r.expires_at_ms = until_ms or 0 end
      if r.behind ~= '0' then place_leave(id, r) end
      if to == SCHEDULED then
        r.state, r.at_ms = to, now + math.max(delay, 0)
        due_put(id, r)
      else
        r.state, r.at_ms, r.started = to, 0, doubt
        ready_put(id, r, event == 'LOSS' and is_suspect(r) and now or nil)
      end
      unique_runs[id] = r
      if event ~= 'LOSS' and doubt == 0 then unique_return(id, r, now) end
      if had_expiry and r.expires_at_ms == 0 then unique_leave(id, r) end
    end
  end
  plan_put('record_puts', id, record_text(r))
end

-- Takes an active run from a holder that is gone. Only what had started can be to blame.
local function vanish(id, r, how, now)
  local is_loss = r.started == '1'
  if is_loss then
    count('lost', 1)
    plan_put('text_puts', id, how .. ' before the worker said how the run ended (loss ' .. r.losses + 1 .. ' of '
      .. LOSSES_MAX .. ')')
  end
  leave(id, r, is_loss and 'LOSS' or 'RELEASE', 0, now, 1)
end

-- Of what is counted, held runs go before kept ones, and both before bodies: at no time may more be
-- said to be held and kept than there are, for the rest are those that wait.
local tallies = {} -- what they came to
local function counts_write()
  local held = counts.held
  if held and held ~= 0 then tallies.held = call('HINCRBY', meta, 'held', held) end
  for name, by in pairs(counts) do
    if name ~= 'held' and by ~= 0 then tallies[name] = call('HINCRBY', meta, name, by) end
  end
end

-- In the ORDER of redis/lib_base.lua; texts do no harm before their records.
local function plan_write()
  if blocks_settle then blocks_settle() end
  if batches_settle then batches_settle() end
  fronts_settle()
  if next(unique_touched) then
    plan.unique_puts, plan.key_drops, plan.window_puts, plan.window_drops = uniques_settle()
  end
  local p = plan
  if not next(p) and not next(counts) and not is_limited then return end
  if is_calm then
    is_calm = false
    call('HDEL', meta, 'calm')
  end
  local function list_write(command, key, name)
    local list = p[name]
    if list then write(command, key, list) end
  end
  if is_limited then places_open() end
  list_write('HSET', errors, 'text_puts')
  list_write('HSET', results, 'result_puts')
  list_write('ZADD', active, 'lease_puts')
  list_write('ZADD', scheduled, 'due_puts')
  list_write('ZADD', scheduled_urgent, 'urgent_due_puts')
  list_write('ZADD', urgent, 'urgents')
  list_write('RPUSH', ready, 'backs')
  list_write('ZADD', spans, 'span_puts')
  list_write('ZADD', block_leases, 'block_lease_puts')
  list_write('ZADD', block_ends, 'block_end_puts')
  list_write('HSET', payloads, 'payload_puts')
  list_write('ZREM', unique_until, 'window_drops')
  list_write('ZADD', unique_until, 'window_puts')
  list_write('HSET', unique, 'unique_puts')
  list_write('HSET', runs, 'record_puts')
  list_write('ZADD', done, 'done_puts')
  list_write('ZADD', dead, 'dead_puts')
  list_write('ZADD', cancelled, 'cancelled_puts')
  if next(counts) then counts_write() end
  list_write('HSET', blocks, 'block_puts')
  list_write('HSET', bodies, 'body_puts')
  list_write('ZREM', active, 'lease_drops')
  list_write('ZREM', scheduled, 'due_drops')
  list_write('ZREM', scheduled_urgent, 'urgent_due_drops')
  list_write('ZREM', urgent, 'urgent_drops')
  list_write('ZREM', block_leases, 'block_lease_drops')
  list_write('ZREM', block_ends, 'block_end_drops')
  list_write('HDEL', payloads, 'payload_drops')
  list_write('HDEL', unique, 'key_drops')
  list_write('HDEL', bodies, 'body_drops')
  list_write('ZREM', spans, 'block_drops')
  list_write('HDEL', blocks, 'block_drops')
  if is_limited then places_close() end
  plan, counts = {}, {}
end
