-- keys: runs payloads ready urgent scheduled scheduled_urgent active done cancelled dead errors results unique meta wake sessions_seen
-- uses: base plan wake
--
-- Registers worker ARGV[2] as session ARGV[3] and gives back what its session before held.
-- Bounded: looks at 500 leases a call, from the newest to the oldest, so that leases which
-- end meanwhile shift none past us. ARGV[4] is how many are left, -1 at first.
-- Reply: now, released, left; the new session counts once nothing is left.

local now = clock()
local mark = 'worker:' .. ARGV[2]
local facts = call('HMGET', meta, mark, 'paused')
local before, left = facts[1], tonumber(ARGV[4])
if left < 0 then left = call('ZCARD', active) end

local function give_back(from, to)
  local released = 0
  local ids = call('ZRANGE', active, from, to)
  local texts = read(runs, ids)
  for at = #ids, 1, -1 do
    local id = ids[at]
    local r = texts[at] and record_parse(texts[at])
    if r and r.state == ACTIVE and r.owner == before then
      leave(id, r, 'RELEASE', 0, now)
      released = released + 1
    end
  end
  plan_write()
  return released
end

local released = 0
call('ZREM', active, '')
if before and before ~= ARGV[3] and left > 0 then
  local from = math.max(left - 500, 0)
  released = give_back(from, left - 1)
  left = from
else
  left = 0
end
if left == 0 then
  call('ZADD', sessions_seen, now, mark)
  call('HSET', meta, mark, ARGV[3])
end
if released > 0 and facts[2] ~= '1' then wake_one() end
return {now, released, left}
