-- store/redis/lib_held.lua - blocks whose holder is gone: what they hold goes back.

-- Takes back at most `most` of the held runs of `b`, the last ones first: they and what is taken back
-- later go to the front in their order. Returns how many were looked at, and how many went back.
local function held_vanish(b, most, how, now)
  local places, numbers, ids, count_back = {}, {}, {}, 0
  for place = #b.chars, 1, -1 do
    if #places == most then break end
    if find(b.chars, '^[01]', place) then
      places[#places + 1] = place
      numbers[#places] = b.first + place - 1
    end
  end
  local texts = read(bodies, numbers)
  for at = 1, #places do ids[at] = line_id(numbers[at], body_ms(texts[at] or '')) end
  local known = read(runs, ids)
  for at, place in ipairs(places) do
    local o = texts[at] and ordinary_in(b, place, texts[at])
    if not o or known[at] then
      -- Gone; or it has a record, and a script was stopped before it left the block.
      if o then plan_add('body_drops', o.name) end
      block_leave(b, place)
    elseif not o.head then
      body_aside(o)
    else
      o.is_leaving = true
      vanish(o.id, ordinary_adopt(o), how, now)
      count_back = count_back + 1
    end
  end
  return #places, count_back
end
