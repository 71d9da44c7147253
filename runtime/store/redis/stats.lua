-- store/redis/stats.lua - counts a queue's runs.
-- keys: ready urgent scheduled active done cancelled dead meta bodies slots
-- uses: base layout paused waiting
-- level: reads
--
-- Reply: now, then runs per state (ORDER RUN_STATE), then totals, then paused (1), until when (0: no end), limit, limit of dead runs;
-- empty when nobody has used the queue.

local now = clock()
local m = call('HMGET', meta, 'number', 'done', 'failed', 'crashed', 'lost', 'dead', 'cancelled',
  'stale', 'paused', 'ghosts', 'limit', 'served', 'layout', 'line', 'held', 'kept', 'dead_limit')
local refusal = layout_refusal(m[13])
if refusal then return refusal end
local function number(text) return math.max(tonumber(text or 0), 0) end
-- Those that are due wait for a worker, see redis/lib_told.lua.
local due = call('ZCOUNT', scheduled, '-inf', now)
local listed = math.max(call('LLEN', ready) - number(m[10]), 0) + line_waiting(m[15], m[16])
local waiting = listed + call('ZCARD', urgent) + call('ZLEXCOUNT', slots, '[P', '(Q') + due
local counts = {call('ZCARD', scheduled) - due, waiting, call('ZCARD', active) + number(m[15]),
  call('ZCARD', done) + number(m[16]), call('ZCARD', dead), call('ZCARD', cancelled)}
local is_paused = is_paused_at(m[9], now)
local there = 0
for _, count in ipairs(counts) do there = there + count end
if not m[1] and not m[12] and not m[14] and there == 0 then return {} end
return {now, counts[1], counts[2], counts[3], counts[4], counts[5], counts[6], number(m[1]) + number(m[14]),
  number(m[2]), number(m[3]), number(m[4]), number(m[5]), number(m[6]), number(m[7]), number(m[8]), is_paused and 1 or 0,
  is_paused and m[9] ~= '1' and number(m[9]) or 0, number(m[11]), number(m[17])}
