-- store/redis/lib_retention.lua - how long ended runs, calls and quiet sessions are kept: STEP forgets them.

local function fields_drop(key, ids)
  if call('HLEN', key) > 0 then write('HDEL', key, ids) end
end

-- What is kept beside the records of done runs and their payloads.
local function runs_forget(ids)
  write('HDEL', runs, ids)
  fields_drop(errors, ids)
  fields_drop(progress, ids)
  logs_drop(ids)
end

-- Forgets these runs of one final state, the first ones of its set.
local function finals_forget(key, ids)
  if #ids == 0 then return end
  runs_forget(ids)
  fields_drop(key == done and results or payloads, ids)
  call('ZREMRANGEBYRANK', key, 0, #ids - 1)
end

-- Forgets runs of one final state whose time is over, more than this step may have added. The first
-- time of what is left.
local function final_forget(key)
  finals_forget(key, call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, FORGET_MAX + ended_count))
  return head(key)
end

-- How many dead runs are more than may be kept.
local function dead_excess(most)
  return most and call('ZCARD', dead) - most or 0
end

-- Forgets as many of these, those first that would be forgotten first. The first time of what is left.
local function dead_cut(most)
  local excess = math.min(dead_excess(most), FORGET_MAX + ended_count)
  if excess > 0 then finals_forget(dead, call('ZRANGE', dead, 0, excess - 1)) end
  return head(dead)
end

-- Done runs of blocks whose time is over: the same number of them, from blocks in the order of their ends.
local blocks_forget
do
-- The letters that are over by now, as a class of a pattern; nil for none. Those that have no instant
-- mean nothing.
local function letters_over(b)
  local list, over = block_instants(b), ''
  for place, text in ipairs(list) do
    if tonumber(text) <= now then over = over .. sub(LETTERS, place, place) end
  end
  over = over .. sub(LETTERS, #list + 1)
  return over ~= '' and '[' .. over .. ']' or nil
end

local function block_forget(b, most)
  local class, left, place = letters_over(b), most, 1
  while class and left > 0 do
    local from, to = find(b.chars, class .. '+', place)
    if not from then break end
    local n = math.min(to - from + 1, left)
    block_set(b, from, n, '-')
    count('kept', -n)
    for number = b.first + from - 1, b.first + from + n - 2 do plan_add('body_drops', number) end
    left, place = left - n, from + n
  end
  return most - left
end

function blocks_forget()
  local room = FORGET_MAX + ended_count
  for _, name in ipairs(call('ZRANGEBYSCORE', block_ends, '-inf', now, 'LIMIT', 0, room)) do
    if room <= 0 then break end
    local b = block_load(name)
    local n = b and block_forget(b, room) or 0
    -- An entry that led to nothing is not met again.
    if not b then plan_add('block_end_drops', name) elseif n == 0 then block_set(b, 1, 0, '') end
    room = room - math.max(n, 1)
  end
  plan_write()
  return head(block_ends)
end
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
    memory_forget(keys, keys_until, now, FORGET_MAX), memory_forget(unique, unique_until, now, FORGET_MAX)))
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
