-- store/redis/lib_intake.lua - what every call that brings runs looks at first.
--
-- ARGV[1]: the time; ARGV[2]: the salt for a queue that has none yet. Most calls bring one run, and there
-- each function costs its making: so this and what follows it is straight code where it can be, and may
-- end the script with its answer.

local LANE = 17592186044416 -- the lowest number of lane 1, of the line (core/run_id.h)

-- ORDER INTAKE_FACTS
local facts = call('HMGET', meta, 'layout', 'salt', 'line', 'limit', 'paused', 'events')
local refusal = layout_refusal(facts[1])
if refusal then return refusal end
local now = clock()
local now_text = now .. '|'
events_begin(facts[6])

-- The queue's salt, 26 bits, as a text.
local salt = facts[2]
if not salt or not string.find(salt, '^%d+$') or tonumber(salt) >= 67108864 then salt = ARGV[2] end

-- As redis/lib_paused.lua has it.
local is_paused = facts[5] == '1' or (tonumber(facts[5] or nil) or 0) > now

-- What the first run leaves in meta, and whether the queue is open: not before a STEP has taken away a pause that is
-- over.
local opened = (facts[4] or facts[5] or facts[6]) and LAYOUT or LAYOUT .. '|' .. salt
local function layout_write()
  if facts[1] ~= opened or facts[2] ~= salt then call('HSET', meta, 'layout', opened, 'salt', salt) end
end
