-- keys: meta
-- uses: base
--
-- ARGV[2]: most live runs, '0' for no limit. Reply: 1.

if ARGV[2] == '0' then
  call('HDEL', meta, 'limit')
else
  call('HSET', meta, 'limit', ARGV[2])
end
return 1
