-- store/redis/schema_text.lua - tells the text of a schema.
-- keys: meta schemas schema_texts
-- uses: base layout schemas schema_list
-- level: reads
--
-- ARGV[2]: the job; ARGV[3]: the fingerprint, 16 hex digits, '' for that which was told last. Reply: the text; empty
-- where there is none.

local refusal = layout_check()
if refusal then return refusal end

-- Texts themselves are compared as the server's locale has it.
local function is_lower(field, other)
  local high, its = tonumber(string.sub(field, 1, 8), 16), tonumber(string.sub(other, 1, 8), 16)
  if high ~= its then return high < its end
  return tonumber(string.sub(field, 9, 16), 16) < tonumber(string.sub(other, 9, 16), 16)
end

local function newest_find()
  local tail, newest, since = '|' .. ARGV[2], nil, -1
  schemas_each(function(field, e)
    if string.sub(field, 17) ~= tail then return end
    if e.told > since or e.told == since and is_lower(field, newest) then newest, since = field, e.told end
  end)
  return newest
end

local field = ARGV[3] ~= '' and ARGV[3] .. '|' .. ARGV[2] or newest_find()
if not field or call('HEXISTS', schemas, field) == 0 then return {} end
return call('HGET', schema_texts, field) or {}
