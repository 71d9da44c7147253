-- store/redis/limit.lua - limits the live runs of a queue.
-- keys: runs meta bodies
-- uses: base layout known
-- level: works
--
-- ARGV[2]: most live runs, '0' for no limit. Reply: 1; 0 when nobody has used the queue.

local refusal = layout_check()
if refusal then return refusal end
if not is_known() then return 0 end
call('HDEL', meta, 'calm')
if ARGV[2] == '0' then
  call('HDEL', meta, 'limit')
else
  call('HSET', meta, 'limit', ARGV[2], 'layout', LAYOUT)
end
return 1
