-- store/redis/limit_set.lua - sets what is in force of a limit instead of what runs declare.
-- keys: meta limits refills wake
-- uses: base layout wake
-- level: works
--
-- ARGV[2]: its name; ARGV[3]: what `limits` says of it, '' to be told; ARGV[4]: what it shall say (redis/lib_slots.lua).
-- Reply: what it says after the call, '' for a name that it has not. When that is not ARGV[4], it said something
-- else than ARGV[3], and nothing was done.

local refusal = layout_check()
if refusal then return refusal end
local now, name, told, wanted = clock(), ARGV[2], ARGV[3], ARGV[4]
local text = call('HGET', limits, name) or ''
if text ~= told or text == wanted or text == '' then return text end
call('HDEL', meta, 'calm')
-- All its gates are to be looked at, from the first on: at once, by a clock that is set back too.
call('HSET', meta, 'limits', call('HGET', meta, 'limits') or now)
call('HDEL', limits, name .. '\0')
call('ZADD', refills, 0, name .. '\0')
call('HSET', limits, name, wanted)
if call('HGET', meta, 'paused') ~= '1' then wake_one() end
return wanted
