-- store/redis/lib_seen.lua - remembered ids.
--
-- An id is remembered by its own time, in a ring of six spans of half a horizon each, so that one
-- lookup tells whether it was there and whole spans are dropped when their time is over. Ids beyond the
-- horizon need no memory: they are refused.

local spans = {seen0, seen1, seen2, seen3, seen4, seen5}
local SPAN_MS = ID_HORIZON_MS / 2

local function id_ms(id)
  local a, b, c, d, e, f = string.byte(id, 1, 6)
  return ((((a * 256 + b) * 256 + c) * 256 + d) * 256 + e) * 256 + f
end

local function is_near(ms, now)
  return ms >= now - ID_HORIZON_MS and ms <= now + ID_HORIZON_MS
end

local function span_of(ms)
  return spans[math.floor(ms / SPAN_MS) % 6 + 1]
end

-- The span of `id`, nil when its time is beyond the horizon. Ids of a batch are mostly of the
-- same moment: the answer for 256 ms that are all alike is kept by the bytes they share.
local spans_near = {}
local function span_near(id, now)
  local moment = string.sub(id, 1, 5)
  local span = spans_near[moment]
  if span then return span end
  local ms = id_ms(id)
  if not is_near(ms, now) then return nil end
  span = span_of(ms)
  local from = ms - ms % 256
  if is_near(from, now) and is_near(from + 255, now) and span_of(from) == span
    and span_of(from + 255) == span then
    spans_near[moment] = span
  end
  return span
end

-- Drops the spans whose numbers left the window since `known`, the span number in meta.
local function spans_turn(known, now)
  local current = math.floor(now / SPAN_MS)
  known = tonumber(known)
  if known == current then return end
  for number = current - 2, current + 3 do
    if not known or number < known - 2 or number > known + 3 then
      call('UNLINK', spans[number % 6 + 1])
    end
  end
  call('HSET', meta, 'slot', current)
end

local function remember(ids, now)
  local bins = {}
  for at = 1, #ids do
    local id = ids[at]
    local span = span_near(id, now)
    if span then
      local bin = bins[span]
      if bin then bin[#bin + 1] = id else bins[span] = {id} end
    end
  end
  for _, span in ipairs(spans) do
    if bins[span] then write('SADD', span, bins[span]) end
  end
end
