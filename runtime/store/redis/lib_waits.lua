-- store/redis/lib_waits.lua - who waits for the end of a run, and is told of it (store/store.h, redis/wait.lua).
--
-- `waits`: 'UNTIL ADDRESS;' of each who waits, by the run's id; `waits_until`: the same ids, by the latest of these
-- times; and '@ADDRESS' of who was told, by when his list is dropped. `waits` of `meta` is there as long as there may
-- be some. Who waits blocks on a list of the queue that bears his address.

local WAIT_ENTRY = '(%d+) (%x+);'
local waits_known = {}

-- Those of `ids`, in one go.
local function waits_read(ids)
  local texts = read(waits, ids)
  for at = 1, #ids do waits_known[ids[at]] = texts[at] or false end
end

local function waits_of(id)
  local text = waits_known[id]
  if text == nil then
    text = call('HGET', waits, id)
    waits_known[id] = text
  end
  return text
end

-- ORDER WAITER_LIST
local function waiter_list(address)
  return wake .. ' @' .. address
end

local function waiter_tell(address, now)
  local list = waiter_list(address)
  call('ZADD', waits_until, now + WAIT_KEEP_MS, '@' .. address)
  if call('LLEN', list) == 0 then call('RPUSH', list, '1') end
end

-- Some notes whose time is over, and words that nobody has taken.
local function waits_forget(now)
  local old, ids = call('ZRANGEBYSCORE', waits_until, '-inf', now, 'LIMIT', 0, FORGET_MAX), {}
  for _, name in ipairs(old) do
    if #name == 16 then ids[#ids + 1] = name else call('UNLINK', waiter_list(string.sub(name, 2))) end
  end
  write('HDEL', waits, ids)
  write('ZREM', waits_until, old)
end

-- The run ends, or goes without an end. Whether somebody waits for that.
local function waits_tell(id, now)
  local text, is_awaited = waits_of(id), false
  if not text then return false end
  for until_text, address in string.gmatch(text, WAIT_ENTRY) do
    if tonumber(until_text) > now then
      is_awaited = true
      waiter_tell(address, now)
    end
  end
  waits_known[id] = false
  call('HDEL', waits, id)
  call('ZREM', waits_until, id)
  return is_awaited
end

-- Whether somebody still waits for the end. Notes that are over go.
local function is_awaited(id, now)
  local text = waits_of(id)
  if not text then return false end
  for until_text in string.gmatch(text, WAIT_ENTRY) do
    if tonumber(until_text) > now then return true end
  end
  waits_tell(id, now)
  return false
end

-- For finish() of redis/lib_base.lua, where `noted`, what `meta` says of waits, is something.
local function waits_begin(noted, now)
  if not noted then return end
  waits_end = function(id, until_ms)
    return waits_tell(id, now) and math.max(until_ms, now + WAIT_KEEP_MS) or until_ms
  end
end
