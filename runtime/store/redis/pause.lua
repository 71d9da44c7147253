-- store/redis/pause.lua - pauses and resumes a queue.
-- keys: runs ready urgent scheduled meta wake bodies slots
-- uses: base layout known waiting wake
-- level: works
--
-- ARGV[2]: '-1' pauses until it is resumed, '0' resumes, more pauses for so many ms. Reply: 1; 0 when nobody
-- has used the queue.

local refusal = layout_check()
if refusal then return refusal end
if not is_known() then return 0 end
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
end
return 1
