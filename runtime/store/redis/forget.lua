-- store/redis/forget.lua - deletes a run that is over.
-- keys: runs payloads done cancelled dead errors results progress meta
-- uses: base layout
-- level: works
--
-- ARGV[2]: the run. Reply: 'O', '' unknown, '!' not final.

local refusal = layout_check()
if refusal then return refusal end
local id = ARGV[2]
local text = call('HGET', runs, id)
if not text then return '' end
local r = record_parse(text)
if r and not IS_FINAL[r.state] then return '!' end
call('HDEL', progress, id)
call('HDEL', runs, id)
call('HDEL', payloads, id)
call('HDEL', errors, id)
call('HDEL', results, id)
call('ZREM', done, id)
call('ZREM', cancelled, id)
call('ZREM', dead, id)
return 'O'
