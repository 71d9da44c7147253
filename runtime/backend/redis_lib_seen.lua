-- Remembered ids. An id is remembered by its own time, in a ring of six slots of half a
-- horizon each, so that one lookup tells whether it was there and whole slots are dropped
-- when their time is over. Ids beyond the horizon need no memory: they are refused.

local slots = {seen0, seen1, seen2, seen3, seen4, seen5}
local SLOT_MS = ID_HORIZON_MS / 2

local function id_ms(id)
  local a, b, c, d, e, f = string.byte(id, 1, 6)
  return ((((a * 256 + b) * 256 + c) * 256 + d) * 256 + e) * 256 + f
end

local function is_near(ms, now)
  return ms >= now - ID_HORIZON_MS and ms <= now + ID_HORIZON_MS
end

local function slot_of(ms)
  return slots[math.floor(ms / SLOT_MS) % 6 + 1]
end

-- Drops the slots whose numbers left the window since `known`, the slot number in meta.
local function slots_turn(known, now)
  local current = math.floor(now / SLOT_MS)
  known = tonumber(known)
  if known == current then return end
  for number = current - 2, current + 3 do
    if not known or number < known - 2 or number > known + 3 then
      call('UNLINK', slots[number % 6 + 1])
    end
  end
  call('HSET', meta, 'slot', current)
end

local function remember(ids, now)
  local bins = {}
  for _, id in ipairs(ids) do
    local ms = id_ms(id)
    if is_near(ms, now) then
      local slot = slot_of(ms)
      local bin = bins[slot]
      if bin then bin[#bin + 1] = id else bins[slot] = {id} end
    end
  end
  for _, slot in ipairs(slots) do
    if bins[slot] then write('SADD', slot, bins[slot]) end
  end
end
