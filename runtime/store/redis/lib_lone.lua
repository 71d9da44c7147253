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

  -- What is told of its limits is known already.
  local gates, names, told, plain = {}, {}, {}, 0
  for says, name, by in string.gmatch(told_by, '([CRF]|%d+|%d+|%d+)|([^=;]*)=([^;]*);') do
    plain = plain + #says + #name + #by + 3
    gates[#gates + 1], names[#names + 1], told[#told + 1] = name .. '=' .. by, name, says
  end
  if plain ~= #told_by then break end

  -- Nobody is parked at its gates, and all who stand before it could be granted at once: they are no more than have limits
  -- and wait, and those at work no more than have a lease.
  local is_clear, places, is_ranked = true, {}, find(known[5] or '', '|', 1, true)
  if #gates > 0 then
    local texts, waiting, working = call('HMGET', limits, unpack(names)), call('ZCARD', limited), nil
    local is_alone = is_ranked or call('ZLEXCOUNT', slots, '[P', '(Q') == 0
    for at = 1, #gates do
      local gate, says, room = gates[at], told[at], FAIR_QUEUED
      local kind, count, per, burst = match(says, '^(.)|(%d+)|(%d+)|(%d+)$')
      if texts[at] ~= says .. '|0|0|0' then
        is_clear = texts[at] and sub(texts[at], 1, #says) == says
        if is_clear then count, per, burst = match(texts[at], '^|([1-9]%d*)|(%d+)|(%d+)$', #says + 1) end
        is_clear = is_clear and count
      end
      if is_clear and kind == 'R' then
        local token_us = math.ceil(per * 1000 / count)
        local missing = math.max((call('ZSCORE', buckets, gate) or 0) - ms * 1000, 0)
        room = floor((token_us * burst - math.min(missing, token_us * burst)) / token_us)
      elseif is_clear and kind == 'C' then
        working = working or call('ZCARD', active)
        room = count - working
        if waiting >= room and working > 0 then room = count - call('ZLEXCOUNT', slots, '[A' .. gate .. '\0', '(A' .. gate .. '\1') end
      end
      is_clear = is_clear and (waiting < room or call('ZLEXCOUNT', slots, '[W' .. gate .. '\0', '(W' .. gate .. '\1') < room)
        and (is_alone or call('ZLEXCOUNT', slots, '[P' .. gate .. '\0', '(P' .. gate .. '\1') == 0)
      if not is_clear then break end
      places[at * 2 - 1], places[at * 2] = '0', 'K' .. gate
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
  if #gates > 0 and ms > (tonumber(known[4] or nil) or -1) then
    sums[#sums + 1] = 'limits'
    sums[#sums + 1] = now
  end
  -- The first write must be one that a server without memory refuses.
  call('HSET', meta, unpack(sums))
  -- Those of 'urgent' may stand in a queue that is calm but for them.
  if known[5] and not (key and is_ranked) then call('HDEL', meta, 'calm') end
  if key then
    call('ZADD', urgent, score, id)
  else
    call('RPUSH', ready, id .. (match(known[6] or '', '^%d+$') or '0'))
  end
  if #gates > 0 then
    local place = string.format('%015.0f', score + PLACE_BASE) .. id
    for at = 1, #gates do
      places[#places + 1] = '0'
      places[#places + 1] = 'W' .. gates[at] .. '\0' .. place
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
