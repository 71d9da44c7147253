-- store/redis/schema_drop.lua - forgets a schema that no run needs.
-- keys: runs meta bodies schemas schema_texts schemas_told
-- uses: base layout known schemas arrivals
-- level: works
--
-- ARGV[2]: the job; ARGV[3]: the fingerprint; ARGV[4]: the digest of its text, each 16 hex digits; ARGV[5]: when somebody
-- began to look for such runs; ARGV[6]: the arrivals then. Reply: 1; 0 when nobody has used the queue.

local refusal = layout_check()
if refusal then return refusal end
if not is_known() then return 0 end
local field, looked = ARGV[3] .. '|' .. ARGV[4] .. '|' .. ARGV[2], tonumber(ARGV[5])
local e = schema_parse(field, call('HGET', schemas, field))
if e and e.looked == looked and e.told <= looked - SCHEMA_STALE_MS and arrivals() == tonumber(ARGV[6]) then
  schema_drop(field)
end
return 1
