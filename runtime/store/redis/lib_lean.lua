-- store/redis/lib_lean.lua - a step of which all is plain, of runs with limits and unique keys: successes, and claims of what
-- never began.
--
-- Straight code before everything else, for the reasons of redis/lib_single.lua. It looks at everything first; what it does
-- not expect it leaves to the other libraries, having changed nothing. What it does is what they do (redis/lib_acks.lua, redis/lib_claims.lua, redis/lib_slots.lua), with the same reply.
-- A full step has said in `calm` of meta that nobody waits but in `urgent`, that nobody is parked and no gate is to be
-- looked at, and when the first of these comes due, none: 0: of `scheduled` and `block_leases`; of `dead`, `cancelled` and
-- `block_ends`: 'UNTIL|DUE|OVER' (redis/step.lua). Whoever changes any of that takes it away. What is left to look at is here.

local LEAN_MAX = 256 -- runs, each way
local LEAN_BUCKETS = 8 -- that are looked at

repeat
  local call, sub, find, match, floor, ceil = redis.call, string.sub, string.find, string.match, math.floor, math.ceil
  local want, acks = ARGV[4] + 0, ARGV[7] + 0
  if ARGV[8] ~= '0' or ARGV[11] ~= '0' or want < 1 or want > LEAN_MAX or acks > LEAN_MAX then break end

  -- ORDER LEAN_FACTS
  local facts = call('HMGET', meta, 'calm', 'layout', 'salt', 'taken', 'line', 'lease', 'looked', 'limits', 'done')
  local calm, due_at, over_at = match(facts[1] or '', '^(%d+)|(%d+)|(%d+)$')
  if not calm then break end
  local session, nonce, lease, now = ARGV[2], ARGV[3], ARGV[6] + 0, ARGV[1] + 0
  if now < 0 then
    local time = call('TIME')
    now = time[1] * 1000 + floor(time[2] / 1000)
  end
  local looked, noted, longest = tonumber(facts[7] or nil), tonumber(facts[8] or nil), tonumber(facts[6] or nil)
  local salt = match(facts[3] or '', '^%d+$')
  if now >= calm + 0 or calm - now > LEASE_LOOK_MS or not looked or now < looked or now - looked >= LEASE_LOOK_MS
    or not longest or lease > longest or noted and now < noted or not salt or salt + 0 >= 67108864
    or match(facts[2] or '', '^[^|]*') ~= 'RECORD_VERSION' or (facts[4] or '0') ~= (facts[5] or '0') then break end

  local last = call('HGET', sessions, session)
  local last_nonce, last_seen = match(last or '', '^(%d+)|(%d+)|')
  if not last_nonce or #nonce < #last_nonce or #nonce == #last_nonce and nonce <= last_nonce
    or now < last_seen + 0 or now - last_seen > 60000 then break end

  local now_text, lease_text = tostring(now), tostring(now + lease)
  local is_plain, is_acked, names = true, {}, {}
  for at = 1, acks do
    local id = ARGV[9 + at * 3]
    if is_acked[id] or ARGV[10 + at * 3] ~= 'DONE|1|0|0' then is_plain = false break end
    is_acked[id], names[at] = true, id
  end
  local ranked = is_plain and call('ZRANGE', urgent, 0, want, 'WITHSCORES')
  if not ranked or #ranked == 0 then break end

  -- No lease is over. The first of those that stay; of the runs that are done, the first of all.
  local leases, lease_end = call('ZRANGE', active, 0, acks, 'WITHSCORES'), due_at
  for at = 2, #leases, 2 do
    local score = leases[at] + 0
    if score <= now then is_plain = false break end
    if not is_acked[leases[at - 1]] then lease_end = score break end
  end
  if not is_plain then break end

  -- What is acked, and what may be granted: as many as are wanted.
  local found = math.min(want, #ranked / 2)
  for at = 1, found do names[acks + at] = ranked[at * 2 - 1] end
  local texts = call('HMGET', runs, unpack(names))
  local wires = call('HMGET', payloads, unpack(names, acks + 1))

  -- By what a record says of its limits: its gates. By their names: how many of the acked leave them, and of the others come.
  local lists, gates, gate_list = {}, {}, {}
  local function gates_of_text(text)
    local list = {}
    lists[text] = list
    if find(text, 'needs ', 1, true) then return nil end
    for name in string.gmatch(text, '[^;]+') do
      local g = gates[name]
      if not g then
        g = {name = name, ended = 0, coming = 0, at_work = 'A' .. name .. '\0', in_order = 'W' .. name .. '\0'}
        gates[name], gate_list[#gate_list + 1] = g, g
      end
      list[#list + 1] = g
    end
    return list
  end

  local slot_puts, slot_drops, record_puts, done_puts, keyed, keys_of = {}, {}, {}, {}, {}, {}
  local before = RECORD_VERSION .. '|' .. ACTIVE .. '|1|' .. session .. '|'
  local len, head, middle, ending, rest, list, done_text, until_text, first_over = #before, '-', '', '', 0, nil, '', '', nil
  for at = 1, acks do
    local id, text, key = names[at], texts[at] or '', nil
    if sub(text, 1, len) ~= before then is_plain = false break end
    -- Most records are like the one before but for the time of their enqueue and their unique key.
    local born = len + #head
    if sub(text, len + 1, born) == head then
      local _, aged = find(text, '^%d+', born + 1)
      local at_key = aged and aged + #middle
      if aged and sub(text, aged + 1, at_key) == middle then
        local bar = find(text, '|', at_key + 1, true)
        if bar and sub(text, bar) == ending then key = sub(text, at_key + 1, bar - 1) end
      end
    end
    if not key then
      local _, stop, its_rest, behind, its_born, aged, keep, at_key, its_key = find(text, RECORD_HELD, len + 1)
      local limited_by = its_rest and match(text, HELD_LIMITS, stop + 1)
      list = limited_by and behind < '2' and keep ~= '0' and (behind == '0') == (limited_by == '')
        and (lists[limited_by] or gates_of_text(limited_by))
      if not list then is_plain = false break end
      head, middle, ending = sub(text, len + 1, its_born - 1), sub(text, aged, at_key - 1), sub(text, stop)
      rest, key = its_rest, its_key
      until_text = tostring(now + keep)
      done_text = RECORD_VERSION .. '|' .. DONE .. '|1|' .. session .. '|' .. until_text .. '|0|0|'
      if not first_over or now + keep < first_over then first_over = now + keep end
    end
    if key ~= '' then keyed[#keyed + 1], keys_of[#keys_of + 1] = key, id end
    for place = 1, #list do
      local g = list[place]
      g.ended = g.ended + 1
      slot_drops[#slot_drops + 1] = g.at_work .. id
    end
    record_puts[at * 2 - 1], record_puts[at * 2] = id, done_text .. sub(text, rest)
    done_puts[at * 2 - 1], done_puts[at * 2] = until_text, id
  end
  if not is_plain then break end

  local count, bytes, bytes_max, starts, grants, memo = 0, 0, ARGV[5] + 0, ARGV[9] + 0, {}, {}
  local claim_text = RECORD_VERSION .. '|' .. ACTIVE .. '|1|' .. session .. '|' .. lease_text .. '|' .. now_text .. '|'
  local lease_puts, granted, lists_of = {}, {}, {}
  local limited_drops = {}
  ending, list = '||', nil
  for at = 1, found do
    local id, text, payload = names[acks + at], texts[acks + at] or '', wires[at]
    local begins = sub(text, 1, #RECORD_FRESH)
    if begins ~= RECORD_LIMITED and begins ~= RECORD_FRESH or not payload or #payload > PAYLOAD_BYTES_MAX
      or #text > RECORD_BYTES_MAX then is_plain = false break end
    if sub(text, -#ending) ~= ending then
      local stop, states, limited_by = match(text, RECORD_END, #RECORD_FRESH + 1)
      list = stop and (states == '0' or states == '6' or states == '7') and (lists[limited_by] or gates_of_text(limited_by))
      if not list then is_plain = false break end
      ending = sub(text, stop)
    end
    if (#list > 0) ~= (begins == RECORD_LIMITED) then is_plain = false break end
    if at > 1 then bytes = bytes + #payload end
    if bytes > bytes_max then break end
    local record = claim_text .. (count < starts and '1|' or '0|') .. sub(text, FRESH_REST)
    record_puts[#record_puts + 1] = id
    record_puts[#record_puts + 1] = record
    lease_puts[at * 2 - 1], lease_puts[at * 2] = lease_text, id
    grants[at * 4 - 3], grants[at * 4 - 2], grants[at * 4 - 1], grants[at * 4] = 0, id, record, payload
    memo[at * 2 - 1], memo[at * 2] = id, '1,0;'
    granted[at], lists_of[at] = id, list
    if #list > 0 then limited_drops[#limited_drops + 1] = id end
    for place = 1, #list do list[place].coming = list[place].coming + 1 end
    count = at
  end
  if not is_plain then break end

  -- Which gates have room for all of these, and which buckets are full by now: those that get more are not forgotten.
  local now_us, buckets_at, bucket_puts, full_at, token_of = now * 1000, {}, {}, nil, {}
  local limit_names, working, soon_full = {}, nil, nil
  -- Those of a run that is not granted any more, for its payload would be too much, are left alone.
  local met = gate_list
  gate_list = {}
  for at = 1, #met do
    if met[at].coming + met[at].ended > 0 then gate_list[#gate_list + 1] = met[at] end
  end
  for at = 1, #gate_list do
    local g = gate_list[at]
    limit_names[at] = match(g.name, '^[^=]*')
    -- One that nobody is left at is forgotten.
    if g.coming == 0 and call('ZLEXCOUNT', slots, '[' .. g.in_order, '(W' .. g.name .. '\1') == 0 then is_plain = false break end
  end
  local told = is_plain and #limit_names > 0 and call('HMGET', limits, unpack(limit_names)) or {}
  local full = is_plain and noted and call('ZRANGE', buckets, 0, LEAN_BUCKETS - 1, 'WITHSCORES') or {}
  for at = 1, #full, 2 do
    local score = full[at + 1] + 0
    buckets_at[full[at]] = score
    if score > now_us then
      full_at = full_at or score
    else
      token_of[full[at]] = false
    end
  end
  if not is_plain or #full == LEAN_BUCKETS * 2 and not full_at then break end
  for at = 1, #gate_list do
    local g = gate_list[at]
    local kind, says, set = match(told[at] or '', '^([CRF])|(%d+|%d+|%d+)|(%d+|%d+|%d+)$')
    local n, per, burst = match(sub(set or '', 1, 2) == '0|' and says or set or '', '^(%d+)|(%d+)|(%d+)$')
    if not n or kind == 'R' and (n == '0' or per == '0' or burst == '0') then is_plain = false break end
    if kind == 'C' then
      working = working or call('ZCARD', active)
      local room = n - working
      if room < g.coming then
        room = n - call('ZLEXCOUNT', slots, '[' .. g.at_work, '(A' .. g.name .. '\1') + g.ended
      end
      if room < g.coming then is_plain = false break end
    elseif kind == 'R' then
      local token_us = ceil(per * 1000 / n)
      local tat = buckets_at[g.name] or #full == LEAN_BUCKETS * 2 and call('ZSCORE', buckets, g.name) or 0
      local missing = math.max(tat - now_us, 0)
      if not (missing + token_us * g.coming <= token_us * burst) then is_plain = false break end
      if g.coming > 0 then
        token_of[g.name] = true
        tat = now_us + missing + token_us * g.coming
        bucket_puts[#bucket_puts + 1] = string.format('%.0f', tat)
        bucket_puts[#bucket_puts + 1] = g.name
        if not soon_full or tat < soon_full then soon_full = tat end
      end
    end
  end
  for _, is_kept in pairs(token_of) do is_plain = is_plain and is_kept end
  if not is_plain then break end

  local entries, unkeyed = #keyed > 0 and call('HMGET', unique, unpack(keyed)) or {}, {}
  for at = 1, #keyed do
    if entries[at] == keys_of[at] then unkeyed[#unkeyed + 1] = keyed[at] end
  end
  local over = call('ZRANGE', done, 0, 0, 'WITHSCORES')[2]
  local gone = over and over + 0 <= now and call('ZRANGEBYSCORE', done, '-inf', now_text, 'LIMIT', 0, FORGET_MAX + acks)
  if gone and #gone > 0 and call('HLEN', logs) > 0 then
    local heads = call('HMGET', logs, unpack(gone))
    for at = 1, #gone do is_plain = is_plain and not heads[at] end
    if not is_plain then break end -- what they keep lies in chunks
  end

  -- A server short of memory refuses a script whose first write may need some; acks pass.
  call('ZREM', active, '')
  for at = 1, count do
    local id, place = granted[at], string.format('%015.0f', ranked[at * 2] + PLACE_BASE)
    list = lists_of[at]
    for place_at = 1, #list do
      local g = list[place_at]
      slot_puts[#slot_puts + 1] = '0'
      slot_puts[#slot_puts + 1] = g.at_work .. id
      slot_drops[#slot_drops + 1] = g.in_order .. place .. id
    end
  end
  for at = 1, #gate_list do
    slot_puts[#slot_puts + 1] = '0'
    slot_puts[#slot_puts + 1] = 'K' .. gate_list[at].name
  end
  if #slot_puts > 0 then call('ZADD', slots, unpack(slot_puts)) end
  if #bucket_puts > 0 then call('ZADD', buckets, unpack(bucket_puts)) end
  call('ZADD', active, unpack(lease_puts))
  call('HSET', runs, unpack(record_puts))
  if acks > 0 then call('ZADD', done, unpack(done_puts)) end
  local letters = string.rep('O', acks)
  call('HSET', sessions, session, nonce .. '|' .. last_seen .. '|' .. letters .. '||' .. table.concat(memo))
  if acks > 0 then
    call('ZREM', active, unpack(names, 1, acks))
    call('HDEL', payloads, unpack(names, 1, acks))
    if #unkeyed > 0 then call('HDEL', unique, unpack(unkeyed)) end
  end
  -- Where a repair has given an entry of 'urgent' another score, the place is that of 'limited'.
  if #slot_drops > 0 and call('ZREM', slots, unpack(slot_drops)) < #slot_drops then
    for at = 1, count do
      list = lists_of[at]
      local score = #list > 0 and call('ZSCORE', limited, granted[at])
      local place = string.format('%015.0f', (score or 0) + PLACE_BASE)
      for place_at = 1, #list do call('ZREM', slots, list[place_at].in_order .. place .. granted[at]) end
    end
  end
  if #limited_drops > 0 then call('ZREM', limited, unpack(limited_drops)) end
  call('ZREM', urgent, unpack(granted))
  local has_more, sums = #ranked / 2 > count, {}
  if acks > 0 then sums[1], sums[2] = 'done', (facts[9] or 0) + acks end
  if #gate_list > 0 and not (noted and noted >= now) then
    sums[#sums + 1] = 'limits'
    sums[#sums + 1] = now_text
  end

  -- What is over of the done; and when something comes due.
  if gone then
    call('HDEL', runs, unpack(gone))
    if call('HLEN', errors) > 0 then call('HDEL', errors, unpack(gone)) end
    if call('HLEN', progress) > 0 then call('HDEL', progress, unpack(gone)) end
    if call('HLEN', results) > 0 then call('HDEL', results, unpack(gone)) end
    call('ZREMRANGEBYRANK', done, 0, #gone - 1)
    over = call('ZRANGE', done, 0, 0, 'WITHSCORES')[2]
  elseif first_over and (not over or first_over < over + 0) then
    over = first_over
  end
  local forget, due = over and over + 0, now + lease
  if full_at and (not forget or ceil(full_at / 1000) < forget) then forget = ceil(full_at / 1000) end
  if over_at ~= '0' and (not forget or over_at + 0 < forget) then forget = over_at + 0 end
  if due_at ~= '0' then due = math.min(due, due_at + 0) end
  if lease_end ~= due_at then due = math.min(due, lease_end) end
  local is_calm = false
  if not has_more then
    local still = math.min(now + 1000, due, forget or due, ceil((soon_full or due * 1000) / 1000))
    is_calm = still > now
    if is_calm then
      sums[#sums + 1] = 'calm'
      sums[#sums + 1] = still
    else
      call('HDEL', meta, 'calm')
    end
  end
  if forget and forget > now then forget = math.max(forget, now + FORGET_GAP_MS) end
  if #sums > 0 then call('HSET', meta, unpack(sums)) end
  if has_more and call('LLEN', wake) == 0 then call('RPUSH', wake, '1') end
  return {now, math.max(math.min(due, forget or due) - now, 0), is_calm and 32 or 0, letters, '', salt + 0, 0, now, {}, unpack(grants)}
until true
