-- store/redis/forget.lua - deletes a run that is over.
-- keys: runs payloads done cancelled dead errors results progress meta seen0 seen1 seen2 seen3 seen4 seen5
-- uses: base seen
-- level: works
--
-- ARGV[2]: the run; its id stays remembered. Reply: 'O', '' unknown, '!' not final.

local now, id = clock(), ARGV[2]
local text = call('HGET', runs, id)
if not text then return '' end
local r = record_parse(text)
if r and not IS_FINAL[r.state] then return '!' end
local span = call('HGET', meta, 'slot')
call('HDEL', progress, id)
spans_turn(span, now)
-- An id that is remembered while its run is still there does no harm; one forgotten could come again.
remember({id}, now)
call('HDEL', runs, id)
call('HDEL', payloads, id)
call('HDEL', errors, id)
call('HDEL', results, id)
call('ZREM', done, id)
call('ZREM', cancelled, id)
call('ZREM', dead, id)
return 'O'
