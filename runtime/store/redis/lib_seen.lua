-- store/redis/lib_seen.lua - remembered ids.
--
-- An id is remembered by its own time, in a ring of six slots of half a
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

-- The slot of `id`, nil when its time is beyond the horizon. Ids of a batch are mostly of the
-- same moment: the answer for 256 ms that are all alike is kept by the bytes they share.
local slots_near = {}
local function slot_near(id, now)
  local moment = string.sub(id, 1, 5)
  local slot = slots_near[moment]
  if slot then return slot end
  local ms = id_ms(id)
  if not is_near(ms, now) then return nil end
  slot = slot_of(ms)
  local from = ms - ms % 256
  if is_near(from, now) and is_near(from + 255, now) and slot_of(from) == slot
    and slot_of(from + 255) == slot then
    slots_near[moment] = slot
  end
  return slot
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
  for at = 1, #ids do
    local id = ids[at]
    local slot = slot_near(id, now)
    if slot then
      local bin = bins[slot]
      if bin then bin[#bin + 1] = id else bins[slot] = {id} end
    end
  end
  for _, slot in ipairs(slots) do
    if bins[slot] then write('SADD', slot, bins[slot]) end
  end
end
