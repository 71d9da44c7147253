-- store/redis/metadata_set.lua - sets what a job keeps from run to run.
-- keys: runs meta bodies blocks spans block_leases metadata
-- uses: base layout known plan bodies blocks metadata
-- level: works
--
-- ARGV[2]: the job; ARGV[3]: the version that is replaced, '0' for none, '*' for any; ARGV[4]: the new one, '0' to keep
-- nothing; ARGV[5]: the bytes; ARGV[6]: most other jobs; ARGV[7] to [9]: run, attempt and session of whoever sets it,
-- where it is a run. Reply: 1; 0 when nobody has used the queue, or 'conflict', 'stale' or 'full'.

local refusal = layout_check()
if refusal then return refusal end
if not is_known() then return 0 end
local job, before, version = ARGV[2], ARGV[3], ARGV[4]
local kept = call('HGET', metadata, job)
local m = metadata_parse(kept)
local there = m and m.version or '0'
if there == version then return 1 end

local function is_held(id, attempt, session)
  local text = call('HGET', runs, id)
  if text then
    local r = record_parse(text)
    return r and r.state == ACTIVE and r.attempt == attempt and r.owner == session
  end
  local o = ordinary_find(id)
  return o and o.state == ACTIVE and attempt == '1' and o.block.owner == session
end

if ARGV[7] and not is_held(ARGV[7], ARGV[8], ARGV[9]) then return 'stale' end
if before ~= '*' and before ~= there then return 'conflict' end
if version == '0' then
  call('HDEL', metadata, job)
  return 1
end
if not kept and call('HLEN', metadata) >= tonumber(ARGV[6]) then return 'full' end
call('HSET', metadata, job, version .. '|' .. clock() .. '|' .. ARGV[5])
return 1
