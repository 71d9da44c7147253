-- store/redis/workers.lua - lists the registry of workers.
-- keys: presence
-- uses: base presence
-- level: reads
--
-- Reply: now, then of each entry that is not gone its worker and its text. What cannot be read is left out.

local now = clock()
local reply, seen, cursor = {now}, {}, '0'
repeat
  local page = call('HSCAN', presence, cursor, 'COUNT', 1000)
  local entries = page[2]
  for at = 1, #entries, 2 do
    local p, count = not seen[entries[at]] and presence_parse(entries[at + 1]), #reply
    seen[entries[at]] = true
    if p and not presence_is_gone(p, now) then
      reply[count + 1], reply[count + 2] = entries[at], entries[at + 1]
    end
  end
  cursor = page[1]
until cursor == '0'
return reply
