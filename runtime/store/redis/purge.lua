-- store/redis/purge.lua - deletes runs of one state.
-- keys: runs payloads ready urgent scheduled scheduled_urgent done cancelled dead errors results progress unique meta
-- uses: base layout known
-- level: works
--
-- Deletes up to ARGV[3] (at most 500) runs in state ARGV[2], a scheduled one that is due as waiting.
-- Reply: deleted, is_more; empty when nobody has used the queue.

local refusal = layout_check()
if refusal then return refusal end
if not is_known() then return {} end
local now, state, limit = clock(), ARGV[2], tonumber(ARGV[3])
local sets = {[SCHEDULED] = scheduled, [DONE] = done, [CANCELLED] = cancelled, [DEAD] = dead}
local deleted = 0

local function keys_release(ids, texts)
  for at, id in ipairs(ids) do
    local key = string.match(texts[at] or '', RECORD_UNIQUE)
    if key and key ~= '' and call('HGET', unique, key) == id then call('HDEL', unique, key) end
  end
end

local function runs_delete(ids)
  if #ids == 0 then return end
  for _, key in ipairs({runs, payloads, errors, results, progress}) do write('HDEL', key, ids) end
  deleted = deleted + #ids
end

local function set_purge(key, low, high)
  local ids = call('ZRANGEBYSCORE', key, low, high, 'LIMIT', 0, limit - deleted)
  if #ids == 0 then return false end
  local texts = read(runs, ids)
  runs_delete(ids)
  keys_release(ids, texts)
  write('ZREM', key, ids)
  if key == scheduled then write('ZREM', scheduled_urgent, ids) end
  return deleted < limit
end

local function left(key, low, high)
  return #call('ZRANGEBYSCORE', key, low, high, 'LIMIT', 0, 1)
end

-- Ghosts of cancelled runs lie in the list too; they go without being counted.
local function list_purge()
  local ids = call('LRANGE', ready, 0, limit - deleted - 1)
  if #ids == 0 then return end
  local texts, waiting = read(runs, ids), {}
  for at, id in ipairs(ids) do
    local r = texts[at] and record_parse(texts[at])
    if r and r.state == WAITING then waiting[#waiting + 1] = id end
  end
  runs_delete(waiting)
  keys_release(ids, texts)
  call('LPOP', ready, #ids)
  if #waiting < #ids then call('HINCRBY', meta, 'ghosts', #waiting - #ids) end
end

call('ZREM', scheduled, '')
if state == WAITING then
  set_purge(urgent, '-inf', '+inf')
  if deleted < limit then list_purge() end
  if deleted < limit then set_purge(scheduled, '-inf', now) end
  return {deleted, call('LLEN', ready) + call('ZCARD', urgent) + left(scheduled, '-inf', now)}
end
local low = state == SCHEDULED and '(' .. now or '-inf'
set_purge(sets[state], low, '+inf')
return {deleted, left(sets[state], low, '+inf')}
