-- store/redis/lib_dues.lua - what comes due in a queue, and when.

-- The first entry's score of a sorted set, nil when it is empty.
local function head(key)
  local entry = call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return entry[2] and tonumber(entry[2])
end

-- The earlier of two instants that may be nil.
local function sooner(a, b)
  return a and b and math.min(a, b) or a or b
end

-- When something of this queue comes due; -1 for never.
local function due_in(first)
  return first and math.max(first - now, 0) or -1
end

-- When what is kept of ended runs wants the next step, and when the first of it is over.
local forget, over

local function forget_at(at)
  over = sooner(over, at)
  forget = sooner(forget, at > now and math.max(at, now + FORGET_GAP_MS) or at)
end
