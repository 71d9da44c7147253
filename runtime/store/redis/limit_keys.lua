-- store/redis/limit_keys.lua - lists the keys of a limit.
-- keys: meta limits slots buckets refills
-- uses: base layout slots
-- level: reads
--
-- ARGV[2]: its name; ARGV[3]: most keys; ARGV[4]: the key behind which to begin, when there is one. Reply: now, 1 when
-- more follow, then of each key its text, how many runs are at work and parked there, and in how many ms there is a
-- token. Empty when there is no such limit.

local refusal = layout_check()
if refusal then return refusal end
local name, most, after = ARGV[2], tonumber(ARGV[3]), ARGV[4]
if not limit_of(name).kind then return {} end
local head = 'K' .. name .. '='
local reply, from, room = {gates_now(), 0}, after and '(' .. head .. after or '[' .. head, most

local function parked_count(g)
  if not g.first and g.held == 0 and not parts_are_there() then return 0 end
  return slots_count('P' .. g.name .. '\0', 'P' .. g.name .. PART_END) + slots_count('H' .. g.name .. '\0', 'H' .. g.name .. PART_END)
end

local function key_add(g)
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3] = string.sub(g.name, #head), g.active, parked_count(g)
  reply[at + 4] = g.limit.kind == 'R' and bucket_wait(g, 1) or 0
  room = room - 1
end

-- Gates of which nothing is to be known any more are passed.
repeat
  local page = call('ZRANGEBYLEX', slots, from, '(K' .. name .. '>', 'LIMIT', 0, most + 1)
  for _, member in ipairs(page) do
    local g = gate_open(string.sub(member, 2))
    if not gate_is_void(g) and room == 0 then
      reply[2] = 1
      return reply
    end
    if not gate_is_void(g) then key_add(g) end
    from = '(' .. member
  end
until #page <= most
return reply
