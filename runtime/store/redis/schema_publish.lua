-- store/redis/schema_publish.lua - keeps the text of a schema, or that somebody has told it.
-- keys: runs meta bodies schemas schema_texts schemas_told
-- uses: base layout known schemas
-- level: produces
--
-- ARGV[2]: the job; ARGV[3]: the fingerprint; ARGV[4]: the digest of its text, each 16 hex digits; ARGV[5]: the text;
-- ARGV[6]: most schemas. Reply: 1; 0 when nobody has used the queue, or 'full'.

local refusal = layout_check()
if refusal then return refusal end
if not is_known() then return 0 end
local now, field, text = clock(), ARGV[3] .. '|' .. ARGV[4] .. '|' .. ARGV[2], ARGV[5]
local entry = call('HGET', schemas, field)
local e = schema_parse(field, entry)

-- No other one of the job was told since: one that comes back within the gap is the newest again.
local function is_newest()
  for _, other in ipairs(call('ZRANGEBYSCORE', schemas_told, e.told, '+inf')) do
    if other ~= field and string.sub(other, 35) == ARGV[2] then return false end
  end
  return true
end

if e and math.abs(now - e.told) < SCHEMA_TOLD_GAP_MS and is_newest() then return 1 end

local first
if not entry and call('HLEN', schemas) >= tonumber(ARGV[6]) then
  first = call('ZRANGEBYSCORE', schemas_told, '-inf', now - SCHEMA_STALE_MS, 'LIMIT', 0, 1)[1]
  if not first then return 'full' end
end
call('HSET', schema_texts, field, text)
schema_put(field, now, 0, #text)
if first then schema_drop(first) end
return 1
