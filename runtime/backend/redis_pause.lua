-- keys: ready urgent meta wake
-- uses: base wake
--
-- ARGV[2]: '1' pauses, '0' resumes. Reply: 1.

if ARGV[2] == '1' then
  call('HSET', meta, 'paused', '1')
else
  call('HDEL', meta, 'paused')
  if call('LLEN', ready) + call('ZCARD', urgent) > 0 then wake_one() end
end
return 1
