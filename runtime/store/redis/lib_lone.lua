-- store/redis/lib_lone.lua - what most calls with a unique key or limits bring: one run, due at once, of a producer that
-- has called of late.
--
-- Straight code before everything else, for the reasons of redis/lib_single.lua, and with its reply. What it does not
-- expect it leaves to the other libraries, having changed nothing: a key that has an entry or is kept for a time, a
-- limit that was told otherwise, a gate that has no place for sure. What it does is what they do, in the same order
-- (redis/lib_enqueue.lua, redis/lib_slots.lua).

repeat
  local call, sub, find, match, floor, made = redis.call, string.sub, string.find, string.match, math.floor, ARGV[4]
  local kept, told_by = ARGV[8], ARGV[11]
  local key = kept and match(kept, '^[1-7]|0|[01]|()')
  key = key and sub(kept, key)
  if #ARGV ~= 11 or ARGV[3] == '' or ARGV[7] ~= '' or ARGV[9] ~= '' or kept ~= '' and not key then break end
  local entry = call('HGET', producers, ARGV[3])
  if not entry or sub(entry, 1, 19) >= sub(made, 1, 19) then break end

  -- ORDER LONE_FACTS
  local known = call('HMGET', meta, 'layout', 'number', 'back', 'limits', 'calm', 'line')
  local salt, listed, now = match(known[1] or '', OPEN), match(entry, '^(%d+)|', 37), ARGV[1]
  if now == '-1' then
    local time = call('TIME')
    now = time[1] .. sub('00000' .. time[2], -6, -4)
  end
  local ms = now + 0
  local spare, ahead = listed and listed - ms - TICKET_HORIZON_MS or -1, ARGV[5] - ms
  local number = match(known[2] or '0', '^%d+$')
  if not salt or salt + 0 >= 67108864 or not number or ahead < -TICKET_HORIZON_MS or ahead > TICKET_HORIZON_MS
    or spare < 0 or spare < ahead or key and call('HGET', unique, key) then break end

  -- Its gates: nobody is parked there, and all who stand before it could be granted at once.
  local names, places, from, is_clear = {}, {}, 1, true
  local is_alone = told_by == '' or call('ZLEXCOUNT', slots, '[P', '(Q') == 0
  while from <= #told_by do
    local bar, stop = match(told_by, '^[CRF]|%d+|%d+|%d+()', from), find(told_by, ';', from, true)
    local told, gate = sub(told_by, from, bar - 1), sub(told_by, bar + 1, stop - 1)
    local text = call('HGET', limits, sub(gate, 1, find(gate, '=', 1, true) - 1)) or ''
    local count, per, burst = match(text, '^|([1-9]%d*)|(%d+)|(%d+)$', bar - from + 1)
    if sub(text, 1, bar - from) ~= told or not count and sub(text, bar - from + 1) ~= '|0|0|0' then
      is_clear = false
      break
    end
    if not count then count, per, burst = match(told, '^(%d+)|(%d+)|(%d+)$', 3) end
    local kind, room = sub(told, 1, 1), FAIR_QUEUED
    from = stop + 1
    local standing = call('ZLEXCOUNT', slots, '[W' .. gate .. '\0', '(W' .. gate .. '\1')
    if kind == 'C' then
      room = count - call('ZLEXCOUNT', slots, '[A' .. gate .. '\0', '(A' .. gate .. '\1')
    elseif kind == 'R' then
      local token_us = math.ceil(per * 1000 / count)
      local missing = math.max((call('ZSCORE', buckets, gate) or 0) - ms * 1000, 0)
      room = floor((token_us * burst - math.min(missing, token_us * burst)) / token_us)
    end
    is_clear = standing < room
      and (is_alone or call('ZLEXCOUNT', slots, '[P' .. gate .. '\0', '(P' .. gate .. '\1') == 0)
    if not is_clear then break end
    names[#names + 1] = gate
    if standing == 0 then
      places[#places + 1] = '0'
      places[#places + 1] = 'K' .. gate
    end
  end
  if not is_clear then break end

  number = number + 1
  local back = match(known[3] or '', '^%d+$') or '0'
  local score, begins = now, RECORD_FRESH
  if key and back + 0 >= ms and back + 0 < INSTANT_MAX then score = back end
  local id = struct.pack('>I2I4I2I2I2I4', floor(ms / 4294967296), ms % 4294967296, 28672 + floor(salt / 16384),
    32768 + salt % 16384, floor(number / 4294967296), number % 4294967296)
  number = string.format('%.0f', number)
  local sums = {'number', number}
  if key and score ~= known[3] then sums[3], sums[4] = 'back', score end
  if #names > 0 and ms > (tonumber(known[4] or nil) or -1) then
    sums[#sums + 1] = 'limits'
    sums[#sums + 1] = now
  end
  -- The first write must be one that a server without memory refuses.
  call('HSET', meta, unpack(sums))
  if known[5] then call('HDEL', meta, 'calm') end
  if key then
    call('ZADD', urgent, score, id)
  else
    call('RPUSH', ready, id .. (match(known[6] or '', '^%d+$') or '0'))
  end
  if #names > 0 then
    local place = string.format('%015.0f', score + PLACE_BASE) .. id
    for at = 1, #names do
      places[#places + 1] = '0'
      places[#places + 1] = 'W' .. names[at] .. '\0' .. place
    end
    call('ZADD', slots, unpack(places))
    call('ZADD', limited, score, id)
    begins = RECORD_LIMITED
  end
  if call('LLEN', wake) == 0 then call('RPUSH', wake, '1') end
  call('HSET', payloads, id, ARGV[10])
  if key then call('HSET', unique, key, id) end
  -- ORDER CALL_ENTRY
  entry = made .. '|' .. listed .. '|0|' .. number .. '|' .. now .. '|' .. salt .. '||'
  call('HSET', producers, ARGV[3], entry)
  call('HSET', runs, id, begins .. now .. '|' .. ARGV[6])
  return entry
until true
