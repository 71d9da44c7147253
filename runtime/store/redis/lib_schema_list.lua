-- store/redis/lib_schema_list.lua - all schemas of a queue.

-- Calls `see` with the field and the entry of each that can be read, once.
local function schemas_each(see)
  local cursor, seen = '0', {}
  repeat
    local page = call('HSCAN', schemas, cursor, 'COUNT', 100)
    for at = 1, #page[2], 2 do
      local field, e = page[2][at], schema_parse(page[2][at], page[2][at + 1])
      if e and not seen[field] then see(field, e) end
      seen[field] = true
    end
    cursor = page[1]
  until cursor == '0'
end
