-- store/redis/dead_limit.lua - limits how many dead runs of a queue are kept.
-- keys: runs meta bodies
-- uses: base layout known
-- level: works
--
-- ARGV[2]: most dead runs, '0' for no limit. Reply: 1; 0 when nobody has used the queue.

local refusal = layout_check()
if refusal then return refusal end
if not is_known() then return 0 end
call('HDEL', meta, 'calm')
if ARGV[2] == '0' then
  call('HDEL', meta, 'dead_limit')
else
  call('HSET', meta, 'dead_limit', ARGV[2])
end
return 1
