-- store/redis/schemas.lua - tells the schemas of a queue, without their texts.
-- keys: meta schemas
-- uses: base layout schemas schema_list
-- level: reads
--
-- ARGV[2]: most of them. Reply: now, then of each its field, when it was told, and how long its text is.

local refusal = layout_check()
if refusal then return refusal end
local reply, most = {clock()}, tonumber(ARGV[2]) * 3

schemas_each(function(field, e)
  local count = #reply
  if count < most then reply[count + 1], reply[count + 2], reply[count + 3] = field, e.told, e.len end
end)
return reply
