-- store/redis/lib_retention.lua - how long ended runs, calls and quiet sessions are kept: STEP forgets them.

local function fields_drop(key, ids)
  if call('HLEN', key) > 0 then write('HDEL', key, ids) end
end

-- What is kept beside the records of done runs and their payloads.
local function runs_forget(ids)
  write('HDEL', runs, ids)
  fields_drop(errors, ids)
  fields_drop(progress, ids)
end

-- When what is kept of ended runs wants the next step.
local forget

local function forget_at(at)
  forget = sooner(forget, at > now and math.max(at, now + FORGET_GAP_MS) or at)
end

-- Forgets runs of one final state whose time is over, more than this step may have added.
local function final_forget(key)
  local first = head(key)
  if first and first <= now then
    local ids = call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, FORGET_MAX + ack_count)
    runs_forget(ids)
    fields_drop(key == done and results or payloads, ids)
    -- They are the first ones of the set.
    call('ZREMRANGEBYRANK', key, 0, #ids - 1)
    first = head(key)
  end
  if first then forget_at(first) end
end

-- As many have been forgotten as one step may: the next one does its upkeep too, idle or not.
local function upkeep_again(count)
  if count < FORGET_MAX then return end
  forget_at(now)
  call('HSET', meta, 'looked', 0)
end

-- Where ENQUEUE comes by, it forgets these as it adds others: the rest is for upkeep and idle steps.
local function calls_forget()
  upkeep_again(math.max(memory_forget(producers, producers_until, now, FORGET_MAX),
    memory_forget(keys, keys_until, now, FORGET_MAX)))
end

local sessions_forget
do
-- The names of workers stand among their sessions: a worker says it once and may live for days.
local function worker_forget(mark)
  local its = call('HGET', meta, mark)
  if its and call('HEXISTS', sessions, its) == 1 then
    call('ZADD', sessions_seen, now, mark)
    return
  end
  call('HDEL', meta, mark)
  call('ZREM', sessions_seen, mark)
end

function sessions_forget()
  local old = call('ZRANGEBYSCORE', sessions_seen, '-inf', now - SESSION_TTL_MS, 'LIMIT', 0, FORGET_MAX)
  local quiet, marks = {}, {}
  for _, name in ipairs(old) do
    local list = sub(name, 1, 7) == 'worker:' and marks or quiet
    list[#list + 1] = name
  end
  write('HDEL', sessions, quiet)
  write('ZREM', sessions_seen, quiet)
  for _, mark in ipairs(marks) do worker_forget(mark) end
  upkeep_again(#old)
end
end
