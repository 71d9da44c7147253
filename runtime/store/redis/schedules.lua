-- store/redis/schedules.lua - lists the schedules of a queue.
-- keys: meta schedules
-- uses: base layout schedules
-- level: reads
--
-- Reply: now, then of each schedule its name, mark, next, words, newest run and template. What cannot be read is
-- left out.

local refusal = layout_check()
if refusal then return refusal end
local reply, seen, cursor = {clock()}, {}, '0'
repeat
  local page = call('HSCAN', schedules, cursor, 'COUNT', 1000)
  local entries = page[2]
  for at = 1, #entries, 2 do
    local s, count = not seen[entries[at]] and schedule_parse(entries[at + 1]), #reply
    seen[entries[at]] = true
    if s then
      reply[count + 1], reply[count + 2], reply[count + 3] = entries[at], s.mark, s.next
      reply[count + 4], reply[count + 5], reply[count + 6] = s.words, s.newest, s.template
    end
  end
  cursor = page[1]
until cursor == '0'
return reply
