-- store/redis/lib_layout.lua - whether the queue is laid out as these scripts know it.
--
-- `layout` of `meta` stands there from the queue's first HELLO, run or tick on. A queue that has begun
-- without it is of the first version.
local LAYOUT = 'RECORD_VERSION' -- the build puts the number there

-- The error to answer with before anything is written, nil when all is well.
local function layout_refusal(layout)
  if layout == LAYOUT then return nil end
  if not layout then
    local begun = call('HMGET', meta, 'enqueued', 'served')
    if not begun[1] and not begun[2] then return nil end
  end
  return redis.error_reply('LAYOUT the queue is of layout version ' .. string.sub(layout or '1', 1, 20)
    .. ', this program of version ' .. LAYOUT)
end

-- For scripts that ask nothing else of `meta`.
local function layout_check()
  return layout_refusal(call('HMGET', meta, 'layout')[1])
end
