-- store/redis/hello.lua - registers a worker's session, and takes back what its session before held.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active done cancelled dead errors results unique meta wake sessions sessions_seen
-- uses: base layout plan wake
-- level: works
--
-- ARGV[2]: the worker; ARGV[3]: its session.
-- Bounded: looks at 400 leases a call, from the last end to the first. ARGV[4] is the end at which to
-- go on, -1 at first, and ARGV[5] how many leases that end then were looked at and stay. A place
-- in time, for places in the set shift while others claim.
-- The session before is told so in its own place, by the first call: a nonce of 17 digits, greater
-- than each.
-- Reply: now, released, the next ARGV[4] and ARGV[5]; the new session counts once ARGV[4] is 0.

local now = clock()
local mark = 'worker:' .. ARGV[2]
local facts = call('HMGET', meta, mark, 'paused', 'layout')
local refusal = layout_refusal(facts[3])
if refusal then return refusal end
local before, last, stayed = facts[1], tonumber(ARGV[4]), tonumber(ARGV[5])
local released = 0

local function take_back(id, text)
  local r = text and record_parse(text)
  if not r or r.state ~= ACTIVE or r.owner ~= before then return false end
  vanish(id, r, 'the process of worker ' .. ARGV[2] .. ' was replaced', now)
  released = released + 1
  return true
end

local function page()
  local found = call('ZREVRANGEBYSCORE', active, last < 0 and '+inf' or last, '-inf', 'WITHSCORES',
    'LIMIT', stayed, 400)
  local ids = {}
  for at = 1, #found, 2 do ids[#ids + 1] = found[at] end
  local texts = read(runs, ids)
  for at = 1, #ids do
    local lease_end = tonumber(found[2 * at])
    if lease_end ~= last then last, stayed = lease_end, 0 end
    if not take_back(ids[at], texts[at]) then stayed = stayed + 1 end
  end
  if #ids < 400 then last = 0 end
  plan_write()
end

call('ZREM', active, '')
if before and before ~= ARGV[3] then
  call('ZADD', sessions_seen, now, before)
  call('HSET', sessions, before, 'fffffffffffffffff|' .. now .. '|||')
  page()
else
  last = 0
end
if last == 0 then
  call('ZADD', sessions_seen, now, mark)
  call('HSET', meta, mark, ARGV[3], 'served', '1', 'layout', LAYOUT)
end
if released > 0 and facts[2] ~= '1' then wake_one() end
return {now, released, last, stayed}
