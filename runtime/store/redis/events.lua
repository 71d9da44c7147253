-- store/redis/events.lua - reads what became of runs.
-- keys: meta events
-- uses: base layout
-- level: reads
--
-- ARGV[2]: the position behind which to begin, '-' behind the newest; ARGV[3]: most events; ARGV[4]: most bytes, but for the
-- first entry. Reply: the position of the newest, how many are kept, 1 when no entry is left behind these, then of
-- each entry its position and its text.

local PORTION = 16
local facts = call('HMGET', meta, 'layout', 'events', 'event')
local refusal = layout_refusal(facts[1])
if refusal then return refusal end
local kept, last = tonumber(facts[2] or nil) or 0, tonumber(facts[3] or nil) or 0
local oldest, after = math.max(last - kept, 0), ARGV[2] == '-' and last or tonumber(ARGV[2])
if after < oldest or after > last then after = oldest end
local reply, left, bytes, behind = {last, kept, 1}, tonumber(ARGV[3]), tonumber(ARGV[4]), after

-- Whether the page is full, and whether no entry is left.
local function portion_add()
  local found = call('ZRANGEBYSCORE', events, '(' .. string.format('%.0f', behind), string.format('%.0f', last), 'WITHSCORES',
    'LIMIT', 0, PORTION)
  for at = 1, #found, 2 do
    if left <= 0 or bytes <= 0 then return true, false end
    local entry, position = found[at], tonumber(found[at + 1])
    reply[#reply + 1] = string.format('%.0f', position)
    reply[#reply + 1] = entry
    left, bytes, behind = left - (position - behind), bytes - #entry, position
  end
  return left <= 0 or bytes <= 0, #found < PORTION * 2
end

local is_full, is_over = false, false
while not is_full and not is_over do is_full, is_over = portion_add() end
if not is_over then reply[3] = 0 end
return reply
