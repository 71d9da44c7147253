-- store/redis/schema_text.lua - tells the text of a schema.
-- keys: meta schemas schema_texts
-- uses: base layout schemas schema_list
-- level: reads
--
-- ARGV[2]: the job; ARGV[3]: the fingerprint; ARGV[4]: the digest of its text, each 16 hex digits, or '' for any: then
-- the one that was told last. Reply: the text; empty where there is none.

local refusal = layout_check()
if refusal then return refusal end

-- Texts themselves are compared as the server's locale has it; a number has no room for 16 digits.
local function is_lower(field, other)
  for _, at in ipairs({1, 9, 18, 26}) do
    local mine, its = tonumber(string.sub(field, at, at + 7), 16), tonumber(string.sub(other, at, at + 7), 16)
    if mine ~= its then return mine < its end
  end
  return false
end

local function may_be(field)
  local is_job = string.sub(field, 35) == ARGV[2]
  return is_job and (ARGV[3] == '' or string.sub(field, 1, 16) == ARGV[3]) and
    (ARGV[4] == '' or string.sub(field, 18, 33) == ARGV[4])
end

local function newest_find()
  local newest, since = nil, -1
  schemas_each(function(field, e)
    if not may_be(field) then return end
    if e.told > since or e.told == since and is_lower(field, newest) then newest, since = field, e.told end
  end)
  return newest
end

local is_one = ARGV[3] ~= '' and ARGV[4] ~= ''
local field = is_one and ARGV[3] .. '|' .. ARGV[4] .. '|' .. ARGV[2] or newest_find()
if not field or call('HEXISTS', schemas, field) == 0 then return {} end
return call('HGET', schema_texts, field) or {}
