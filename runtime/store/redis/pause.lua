-- store/redis/pause.lua - pauses and resumes a queue.
-- keys: runs ready urgent scheduled meta wake bodies slots events
-- uses: base events layout known waiting wake
-- level: works
--
-- ARGV[2]: '-1' pauses until it is resumed, '0' resumes, more pauses for so many ms. Reply: 1; 0 when nobody
-- has used the queue.

-- Who offers what runs need sleeps at a list of its own for each such need (redis/lib_slots.lua).
local NEEDS_MAX = 64
local function needs_ring()
  local from = '[Pneeds '
  for _ = 1, NEEDS_MAX do
    local mark = call('ZRANGEBYLEX', slots, from, '(Pneeds!', 'LIMIT', 0, 1)[1]
    local what = mark and string.match(mark, '^Pneeds ([^=]*)=')
    if not what then return end
    local list = wake .. ' ' .. what
    if call('LLEN', list) == 0 then call('RPUSH', list, '1') end
    from = '(Pneeds ' .. what .. '=\255'
  end
end

local facts = call('HMGET', meta, 'layout', 'events', 'paused')
local refusal = layout_refusal(facts[1])
if refusal then return refusal end
if not is_known() then return 0 end
events_begin(facts[2])
local span = tonumber(ARGV[2])
-- Whoever finds a queue calm does not ask whether it is paused.
call('HDEL', meta, 'calm')
if span ~= 0 then
  call('HSET', meta, 'paused', span < 0 and '1' or clock() + span, 'layout', LAYOUT)
  -- Who waits for work would not look when the pause is over.
  if span > 0 then wake_one() end
else
  call('HDEL', meta, 'paused')
  local counted = call('HMGET', meta, 'held', 'kept')
  -- What is scheduled may have come due, or does before who waits for work knows.
  local live = call('LLEN', ready) + call('ZCARD', urgent) + call('ZCARD', scheduled) + call('ZLEXCOUNT', slots, '[P', '(Q')
  if live + line_waiting(counted[1], counted[2]) > 0 then wake_one() end
  needs_ring()
end
local is_paused = call('HGET', meta, 'paused')
if event_note and facts[3] ~= is_paused then
  event_note(is_paused and 'P' or 'Q', NO_RUN_ID, '0')
  events_write(clock())
end
return 1
