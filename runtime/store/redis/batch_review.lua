-- store/redis/batch_review.lua - what of a queue's batches somebody has to see to.
-- keys: meta follow_ups batches_until
-- uses: base layout
-- level: reads
--
-- Reply: now; how many batches are open, and when the first of these was opened, 0 for none; how many runs STEPs are to bring.

local refusal = layout_check()
if refusal then return refusal end
-- Who is open stands behind BATCH_NEVER: see redis/lib_batches.lua.
local NEVER = 9999999999999
local first = call('ZRANGEBYSCORE', batches_until, '(' .. NEVER, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
return {clock(), call('ZCOUNT', batches_until, '(' .. NEVER, '+inf'), first[2] and first[2] - NEVER or 0, call('ZCARD', follow_ups)}
