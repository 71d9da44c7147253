-- store/redis/schema_text.lua - tells the text of a schema.
-- keys: meta schemas schema_texts schemas_told
-- uses: base layout
-- level: reads
--
-- ARGV[2]: the job; ARGV[3]: the fingerprint; ARGV[4]: the digest of its text, each 16 hex digits, or '' for any: then
-- the one that was told last. Reply: the text; empty where there is none.

local refusal = layout_check()
if refusal then return refusal end

local function may_be(field)
  local is_job = string.sub(field, 35) == ARGV[2]
  return is_job and (ARGV[3] == '' or string.sub(field, 1, 16) == ARGV[3]) and
    (ARGV[4] == '' or string.sub(field, 18, 33) == ARGV[4])
end

-- By the order of when they were told, which workers may read as well; of one instant they are in that of their bytes,
-- and the lowest counts.
local function newest_find()
  local newest, since = nil, nil
  local told = call('ZRANGEBYSCORE', schemas_told, '-inf', '+inf', 'WITHSCORES')
  for at = 1, #told, 2 do
    if may_be(told[at]) and told[at + 1] ~= since then newest, since = told[at], told[at + 1] end
  end
  return newest
end

local is_one = ARGV[3] ~= '' and ARGV[4] ~= ''
local field = is_one and ARGV[3] .. '|' .. ARGV[4] .. '|' .. ARGV[2] or newest_find()
if not field or call('HEXISTS', schemas, field) == 0 then return {} end
return call('HGET', schema_texts, field) or {}
