-- store/redis/lib_layout.lua - whether the queue is laid out as these scripts know it.
--
-- `layout` of `meta` stands there from the queue's first HELLO, run or tick on. A queue that has begun
-- without it is of the first version.
--
-- An open queue has neither a limit nor a pause, and says so there: a bar and its salt follow the version.
-- Then one look tells a single enqueue all that it has to know of the queue (redis/lib_single.lua). What
-- closes a queue takes them away by the same command; the next enqueue that asks for more opens it again.
local LAYOUT = 'RECORD_VERSION' -- the build puts the number there
local OPEN = '^RECORD_VERSION|(%d+)$'

-- The error to answer with before anything is written, nil when all is well.
local function layout_refusal(layout)
  local version = string.match(layout or '1', '^[^|]*')
  if version == LAYOUT then return nil end
  if not layout then
    local begun = call('HMGET', meta, 'enqueued', 'served')
    if not begun[1] and not begun[2] then return nil end
  end
  return redis.error_reply('LAYOUT the queue is of layout version ' .. string.sub(version, 1, 20)
    .. ', this program of version ' .. LAYOUT)
end

-- For scripts that ask nothing else of `meta`.
local function layout_check()
  return layout_refusal(call('HMGET', meta, 'layout')[1])
end
