-- store/redis/events_keep.lua - says how many events a queue keeps.
-- keys: runs meta bodies events
-- uses: base layout known
-- level: works
--
-- ARGV[2]: how many, '0' for none. Reply: 1; 0 when nobody has used the queue. `event` of `meta` stays, so that no position
-- is given twice. From some to none takes one: who was behind the newest finds that there was a time without.

local refusal = layout_check()
if refusal then return refusal end
if not is_known() then return 0 end
-- Straight code tells nobody of anything, but for redis/step_fast.lua, and an open queue is served by such.
call('HDEL', meta, 'calm')
if ARGV[2] == '0' then
  if call('HDEL', meta, 'events') == 1 then call('HINCRBY', meta, 'event', 1) end
  call('UNLINK', events)
else
  call('HSET', meta, 'events', ARGV[2], 'layout', LAYOUT)
end
return 1
