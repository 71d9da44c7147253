-- store/redis/lib_claims.lua - which ready runs a STEP grants.
--
-- Runs are looked at where they lie and leave their index only when all is written.

local grants, memo, decided, ghosts_met = {}, {}, {}, 0
local ghosts -- as meta counts them, once facts are read
local urgent_used, ready_used, ready_kept = 0, 0, {}
local grant_count, is_enough, bytes = 0, false, 0
local passed_count = 0 -- suspects that stayed, for they want no company

-- What the reply tells beside. Held: a run that only a free handler may get ended the claim.
-- (One table: Lua has room for 200 locals.)
local news = {expired = 0, is_held = false, is_replaced = false}
local claim_text = version_text .. '|' .. NEXT[WAITING .. '_CLAIM'] .. '|1|' .. session .. '|' .. lease_text
  .. '|' .. now_text .. '|'
local start_text, ahead_text = claim_text .. '1|', claim_text .. '0|'
local claim_puts, claim_leases, progress_drops = {}, {}, {}
local asides = {} -- id, bytes of a damaged record; leaves a ghost, if it lies in the list

local PAYLOAD_TOO_LONG = 'damaged in the store: the payload is longer than ' .. PAYLOAD_BYTES_MAX .. ' bytes'

-- Ends a run that will not be granted any more.
local function refuse(id, r, reason)
  decided[id] = true
  put(text_puts, id, reason)
  finish(id, r, NEXT[WAITING .. '_EXPIRE'], keep_until(r, now, TAIL_keep_failure_ms))
  forget_at(r.at_ms)
  put(record_puts, id, record_text(r))
end

local function grant(id, text, attempt, payload)
  local pair, triple = grant_count * 2, grant_count * 3
  grant_count = grant_count + 1
  decided[id] = true
  claim_puts[pair + 1] = id
  claim_puts[pair + 2] = text
  claim_leases[pair + 1] = lease_text
  claim_leases[pair + 2] = id
  memo[pair + 1] = id
  memo[pair + 2] = attempt
  grants[triple + 1] = id
  grants[triple + 2] = text
  grants[triple + 3] = payload
end

-- False, and the claim ends, when one more payload would be too much.
local function is_room(payload)
  if grant_count > 0 then
    if bytes + #payload > max_bytes then is_enough = true return false end
    bytes = bytes + #payload
  end
  return true
end

-- A suspect is granted alone, and like everything whose holder has vanished only to a free handler.
local function must_wait(r, is_suspected)
  return is_suspected and grant_count > 0 or (is_suspected or r.started == '1') and grant_count >= starts
end

-- A run that may be anything, looked at in full.
local function candidate_parsed(id, text, payload)
  local r = record_parse(text)
  if not r and not decided[id] then
    decided[id] = true
    put(asides, id, text)
  end
  if not r or r.state ~= WAITING or decided[id] then ghosts_met = ghosts_met + 1 return true end
  if not payload then refuse(id, r, 'the payload is missing') return true end
  if #payload > PAYLOAD_BYTES_MAX then refuse(id, r, PAYLOAD_TOO_LONG) return true end
  local expires = tonumber(r.expires_at_ms)
  if r.attempt == '0' and expires ~= 0 and now >= expires then
    news.expired = news.expired + 1
    refuse(id, r, 'expired')
    return true
  end
  local is_suspected = is_suspect(r)
  if is_suspected and in_company then passed_count = passed_count + 1 return nil end
  if must_wait(r, is_suspected) then is_enough, news.is_held = true, true return false end
  if not is_room(payload) then return false end
  if r.attempt ~= '0' then progress_drops[#progress_drops + 1] = id end
  r.state, r.attempt = NEXT[WAITING .. '_CLAIM'], r.attempt + 1
  r.owner, r.at_ms, r.timeout_from_ms = session, lease_text, now_text
  r.started = grant_count < starts and 1 or 0
  grant(id, record_text(r), r.attempt .. ';', payload)
  if is_suspected then is_enough = true end
  return true
end

-- True when `id` is dealt with, false when it and all after it must stay, nil when it alone must.
local function candidate(id, text, payload)
  if not text then ghosts_met = ghosts_met + 1 return true end
  -- Most runs never began and never expire: only the beginning of their records changes.
  if sub(text, 1, #RECORD_FRESH) ~= RECORD_FRESH or not payload or decided[id]
    or #payload > PAYLOAD_BYTES_MAX or #text > RECORD_BYTES_MAX then
    return candidate_parsed(id, text, payload)
  end
  if not is_room(payload) then return false end
  grant(id, (grant_count < starts and start_text or ahead_text) .. sub(text, FRESH_REST), '1;', payload)
  return true
end

-- Decides on some runs of one index; returns how many of them, and notes which of these stay.
local function candidates(ids, kept)
  local texts, bodies = call('HMGET', runs, unpack(ids)), call('HMGET', payloads, unpack(ids))
  for at = 1, #ids do
    if is_enough or grant_count >= want then return at - 1 end
    local is_leaving = candidate(ids[at], texts[at], bodies[at])
    if is_leaving == false then return at - 1 end
    if not is_leaving then kept[ids[at]] = true end
  end
  return #ids
end

local function claim_urgent(most)
  local ids = call('ZRANGE', urgent, urgent_used, urgent_used + most - 1)
  if #ids == 0 then return 0 end
  local kept = {}
  local used = candidates(ids, kept)
  for at = 1, used do
    if not kept[ids[at]] then urgent_drops[#urgent_drops + 1] = ids[at] end
  end
  urgent_used = urgent_used + used
  ghosts_met = 0
  return #ids
end

local function claim_ready(most)
  local ids = call('LRANGE', ready, ready_used, ready_used + most - 1)
  if #ids == 0 then return 0 end
  local kept = {}
  local used = candidates(ids, kept)
  if passed_count > 0 then
    for at = 1, used do
      if kept[ids[at]] then ready_kept[#ready_kept + 1] = ids[at] end
    end
  end
  ready_used = ready_used + used
  return #ids
end

-- True when it gave up before it was satisfied, which ghosts and expired runs may cause.
local function claim()
  local looked = 0
  for _, from in ipairs({claim_urgent, claim_ready}) do
    repeat
      local most = math.min(want - grant_count, 32)
      if is_enough or most <= 0 then return false end
      if looked >= want + 256 then return looked > passed_count end
      local met = from(most)
      looked = looked + met
    until met < most
  end
  return false
end

-- Cuts off what was looked at in front, but for what stays: that moves to the end of this part, the
-- last one first, so that at no time one of them is missing.
local function ready_drop()
  local leaving = ready_used - #ready_kept
  if leaving == 0 then return end
  for at = #ready_kept, 1, -1 do call('LSET', ready, leaving + at - 1, ready_kept[at]) end
  call('LPOP', ready, leaving)
end

-- What was decided upon leaves its index.
local function claimed_drop()
  for at = 1, #asides, 2 do aside_put(asides[at], asides[at + 1]) end
  plan_write()
  ready_drop()
  write('HDEL', progress, progress_drops)
  if ghosts_met > 0 then ghosts = call('HINCRBY', meta, 'ghosts', -ghosts_met) end
end

local function remembered_grants(list)
  local ids, attempts = {}, {}
  for id, attempt in string.gmatch(list, '(................)(%d+);') do
    if #ids == want then break end
    ids[#ids + 1] = id
    attempts[#attempts + 1] = attempt
  end
  local texts, bodies = read(runs, ids), read(payloads, ids)
  for at, id in ipairs(ids) do
    local r = texts[at] and record_parse(texts[at])
    if r and bodies[at] and #bodies[at] <= PAYLOAD_BYTES_MAX and holds(r, attempts[at]) then
      put(grants, id, texts[at])
      grants[#grants + 1] = bodies[at]
    end
  end
end

local function waiting_count()
  return math.max(call('LLEN', ready) - math.max(tonumber(ghosts or 0), 0), 0) + call('ZCARD', urgent)
end
