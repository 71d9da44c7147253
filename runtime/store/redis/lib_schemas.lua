-- store/redis/lib_schemas.lua - the schemas of a queue: the hash `schemas` has of each, under
-- 'FINGERPRINT|DIGEST|JOB', when it was told last, when somebody looked for runs that need it, 0 for not since, and how many bytes its text has:
-- 'TOLD|LOOKED|BYTES'. The hash `schema_texts` has that text under the same field, and `schemas_told` has the field by
-- when it was told.

-- Nil for what nobody of ours has written.
local function schema_parse(field, text)
  if not string.find(field, '^' .. string.rep('%x', 16) .. '|' .. string.rep('%x', 16) .. '|.') then return nil end
  local told, looked, len = string.match(text or '', '^(%d+)|(%d+)|(%d+)$')
  if not told or #told > 13 or #looked > 13 or #len > 5 then return nil end
  return {told = tonumber(told), looked = tonumber(looked), len = tonumber(len)}
end

-- Behind its text: what is listed has one.
local function schema_put(field, told, looked, len)
  call('ZADD', schemas_told, told, field)
  call('HSET', schemas, field, told .. '|' .. looked .. '|' .. len)
end

-- Before its text.
local function schema_drop(field)
  call('HDEL', schemas, field)
  call('HDEL', schema_texts, field)
  call('ZREM', schemas_told, field)
end
