-- store/redis/run_log.lua - tells the log lines that a run has kept.
-- keys: runs logs meta bodies blocks spans block_leases
-- uses: base layout plan bodies blocks
-- level: reads
--
-- ARGV[2]: the run. Reply: its lines, '' for none; empty when unknown. An ordinary run has none: who brings the first
-- gives it a record.

local refusal = layout_check()
if refusal then return refusal end
local id = ARGV[2]
if call('HEXISTS', runs, id) == 1 then return {call('HGET', logs, id) or ''} end
return ordinary_find(id) and {''} or {}
