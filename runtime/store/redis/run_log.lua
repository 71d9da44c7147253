-- store/redis/run_log.lua - tells the log lines that a run has kept.
-- keys: runs logs meta bodies blocks spans block_leases
-- uses: base lines layout plan bodies blocks
-- level: reads
--
-- ARGV[2]: the run. Reply: how many lines it keeps, and chunks of
-- which these are the last; empty when unknown. An ordinary run has none: who brings the first
-- gives it a record.

local refusal = layout_check()
if refusal then return refusal end
local id = ARGV[2]
if call('HEXISTS', runs, id) == 0 then return ordinary_find(id) and {0} or {} end
local first, last, _, _, shown = log_head(call('HGET', logs, id))
if not first then return {0} end
local names, reply = log_chunks(id, first, last, {}), {shown}
local chunks = read(logs, names)
for at = 1, #names do reply[at + 1] = chunks[at] or '' end
return reply
