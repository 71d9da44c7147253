-- store/redis/limits.lua - lists the limits of a queue.
-- keys: meta limits slots buckets refills
-- uses: base layout slots
-- level: reads
--
-- Reply: now, then of each limit its name, what `limits` says of it (redis/lib_slots.lua), how many gates it has, and
-- how many runs are at work and parked there. What cannot be read is left out.

local refusal = layout_check()
if refusal then return refusal end
local now = clock()
local reply, seen, cursor = {now}, {}, '0'

-- Gates that nobody has forgotten yet although nothing is to be known of them.
local voids = {}
for _, name in ipairs(call('ZRANGEBYSCORE', buckets, '-inf', string.format('%.0f', now * 1000), 'LIMIT', 0, 1000)) do
  local limit = string.match(name, '^[^=]*')
  if gate_is_void(gate_open(name)) and call('ZSCORE', slots, 'K' .. name) then
    voids[limit] = (voids[limit] or 0) + 1
  end
end

local function of_limit(kind, name) return slots_count(kind .. name .. '=', kind .. name .. '>') end

local function limit_add(name, text)
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3] = name, text, of_limit('K', name) - (voids[name] or 0)
  reply[at + 4], reply[at + 5] = of_limit('A', name), of_limit('P', name) + of_limit('H', name)
end

repeat
  local page = call('HSCAN', limits, cursor, 'COUNT', 1000)
  local entries = page[2]
  for at = 1, #entries, 2 do
    if not seen[entries[at]] and limit_read(entries[at + 1]) then limit_add(entries[at], entries[at + 1]) end
    seen[entries[at]] = true
  end
  cursor = page[1]
until cursor == '0'
return reply
