-- store/redis/pause.lua - pauses and resumes a queue.
-- keys: runs ready urgent meta wake
-- uses: base layout known wake
-- level: works
--
-- ARGV[2]: '1' pauses, '0' resumes. Reply: 1; 0 when nobody has used the queue.

local refusal = layout_check()
if refusal then return refusal end
if not is_known() then return 0 end
if ARGV[2] == '1' then
  call('HSET', meta, 'paused', '1')
else
  call('HDEL', meta, 'paused')
  if call('LLEN', ready) + call('ZCARD', urgent) > 0 then wake_one() end
end
return 1
