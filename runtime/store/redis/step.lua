-- store/redis/step.lua - the fused operation of a worker: acks, beats, upkeep, claims.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active done cancelled dead errors results progress logs unique unique_until meta wake sessions sessions_seen keys keys_until producers producers_until damaged bodies blocks spans block_leases block_ends limits limited slots buckets refills follow_ups waits waits_until batches batches_until events
-- uses: lean base events request layout granted dues unique plan slots parking wake bodies blocks aside held memory promote lines retention words leases waits batches batch_ends acks claims
-- lead: lean
-- level: works
-- rare: unique plan slots parking wake bodies blocks aside held memory promote lines retention words leases waits batches batch_ends acks claims
--
-- store/store.h is the contract, lib_request.lua has ARGV.
-- Reply: now due_in_ms flags acks beats salt first since bodies, then per grant of a run with a record: before id
--        record payload
-- Acks: a letter for each listed one, then one for each run of the groups. Flags: 1 paused, 2 empty, 4 held,
-- 8 replaced, 16 passed, 32 calm: the next one may be tried by step_fast.lua, 64 short, 128: follow-ups are left to be brought,
-- 256: the queue tells events, 512: log lines were left out, for want of memory, 1024 late, 2048 for each expired run. Bodies: an array, of the ordinary runs that are
-- granted; the number of its first item is `first` (0: it is empty), of each other one more; nil for a
-- number of which nothing is granted. Since: when they were claimed, which their acks tell. Before: so many items of it come before this grant.

local function reply(is_paused, due, is_empty, acks, beats, is_next_fast)
  local flags = (is_paused and 1 or 0) + (is_empty and 2 or 0) + (granted.is_held and 4 or 0)
    + (granted.is_replaced and 8 or 0) + (granted.passed > 0 and 16 or 0) + (is_next_fast and 32 or 0)
    + (granted.is_short and 64 or 0) + (counted.has_follow_ups and 128 or 0) + (event_note and 256 or 0)
    + (granted.lines_left and 512 or 0) + (granted.is_late and 1024 or 0) + 2048 * granted.expired
  return {now, due, flags, acks, beats, line.salt, take.first or 0, take.since or now, take.bodies, unpack(granted.list)}
end

-- ORDER STEP_FACTS
local facts = call('HMGET', meta, 'paused', 'layout', 'ghosts', 'lease', 'looked', 'salt', 'taken', 'line', 'held',
  'kept', 'calm', 'limits', 'dead_limit', 'follow_ups', 'waits', 'batches', 'events')
local refusal = layout_refusal(facts[2])
if refusal then return refusal end
-- As redis/lib_paused.lua has it; and when a pause is over that ends by itself.
local resumes = facts[1] ~= '1' and tonumber(facts[1] or nil) or nil
if resumes and resumes <= now then resumes = nil end
local is_paused = facts[1] == '1' or resumes ~= nil
ghosts, longest = tonumber(facts[3] or 0) or 0, tonumber(facts[4] or nil)
line_set(facts[6], facts[7])
counted.last, counted.held, counted.kept = line_count(facts[8]), line_count(facts[9]), line_count(facts[10])
is_calm = facts[11]
local dead_most = tonumber(facts[13] or nil)
counted.has_follow_ups = facts[14]
-- Whether there is something of limits: else nothing of that is looked at.
limits_noted, is_cutting = tonumber(facts[12] or nil), true
local function parked_count() return limits_noted and slots_count('P', 'Q') or 0 end
local function look_next() return limits_noted and head(refills) or nil end
local last = call('HGET', sessions, session)
local last_nonce, last_seen
if last then last_nonce, last_seen = string.match(last, '^(%d+)|(%d+)|') end

-- What is said when nothing is done.
local function reply_unchanged(acks, beats)
  local due, lease_end = head(scheduled), sooner(head(active), head(block_leases))
  local waiting = call('HLEN', bodies) - counted.held - counted.kept + call('LLEN', ready) - ghosts
    + call('ZCARD', urgent) + parked_count()
  return reply(is_paused, due_in(sooner(resumes, sooner(look_next(), sooner(due, lease_end)))),
    not due and not lease_end and waiting <= 0, acks, beats)
end

-- A queue that nobody has used is not begun by who asks it for work: nobody would empty what that leaves.
if not facts[2] then return reply_unchanged(string.rep('G', ended_count), string.rep('G', beat_count)) end

-- Hex without leading zeros: the longer one is greater. Sent before the session's last step, from a
-- connection that was closed since: grants would reach nobody, and what it says has been said again.
if last_nonce and (#nonce < #last_nonce or #nonce == #last_nonce and nonce < last_nonce) then
  granted.is_replaced = #last_nonce > 20
  granted.is_late = not granted.is_replaced
  return reply_unchanged(string.rep('S', ended_count), string.rep('S', beat_count))
end

if last_nonce == nonce then
  local last_acks, last_beats, last_grants = string.match(last, '^%d+|%d+|(%u*)|(%u*)|(.*)$')
  remembered_grants(last_grants)
  return reply_unchanged(last_acks, last_beats)
end

-- The server refuses a script under memory pressure only when its first write is one that
-- may need memory. The first of these does nothing and is refused then, which tells of it; the other one is not,
-- so acks and beats pass.
granted.has_room = type(redis.pcall('ZADD', active, 'XX', 0, '')) ~= 'table'
call('ZREM', active, '')
events_begin(facts[17])
if facts[1] and not is_paused then
  call('HDEL', meta, 'paused')
  if event_note then event_note('Q', NO_RUN_ID, '0') end
end

waits_begin(facts[15], now)
batches_begin(facts[16], now)
local acks, is_veiled, beats = '', false, ''
if ended_count > 0 then acks, is_veiled = acks_settle() end
if beat_count > 0 then beats = beats_extend() end
local is_seen = last_seen and now - last_seen <= 60000 and now >= tonumber(last_seen)

local function step_remember()
  if not is_seen then
    -- Longer than it may hold a run without a word: its name must lead to it.
    call('ZADD', sessions_seen, now + math.max(lease + 60000 - SESSION_TTL_MS, 0), session)
    last_seen = now
  end
  call('HSET', sessions, session, nonce .. '|' .. last_seen .. '|' .. acks .. '|' .. beats .. '|'
    .. (take.first and '#' .. take.first .. ';' or '') .. table.concat(granted.memo))
end

-- Should what follows be refused, the same step comes again and must not find its acks stale. (A
-- success that is kept is known from its record.)
if is_veiled then step_remember() end
-- Leases are looked through once in LEASE_LOOK_MS, which is enough: in less time no clock goes back by
-- more than the leases are granted.
local looked = tonumber(facts[5] or nil)
local is_look = longest and not (looked and now >= looked and now - looked < LEASE_LOOK_MS)
if is_look then leases_cut() end
local is_upkeep = is_look or not is_seen

-- What is over, of each kind.
local lease_end = sooner(head(active), head(block_leases))
if lease_end and lease_end <= now then
  reap()
  lease_end = sooner(head(active), head(block_leases))
end
local due = head(scheduled)
if due and due <= now then
  promote()
  due = head(scheduled)
end
local ended = head(done)
if ended and ended <= now then ended = final_forget(done) end
if ended then forget_at(ended) end
ended = head(dead)
if ended and ended <= now then ended = final_forget(dead) end
if ended and dead_most then ended = dead_cut(dead_most) end
if ended then forget_at(ended) end
ended = head(cancelled)
if ended and ended <= now then ended = final_forget(cancelled) end
if ended then forget_at(ended) end
ended = head(block_ends)
if ended and ended <= now then ended = blocks_forget() end
if ended then forget_at(ended) end
if limits_noted then
  if now < limits_noted then limits_look() end
  local full = head(buckets)
  if full and full <= now * 1000 then full = buckets_forget(FORGET_MAX + ended_count) end
  if full then forget_at(math.ceil(full / 1000)) end
  local look = head(refills)
  if look and look <= now then place_admit() end
  if is_upkeep then limits_forget() end
end
if is_upkeep then sessions_forget() end
if waits_end then
  waits_forget(now)
  local first = head(waits_until)
  if first then forget_at(first) end
end
local batch_at = batch_end and batches_forget(now)
if batch_at then forget_at(batch_at) end

-- The step is remembered before entries leave for its grants: should that be refused, the same step
-- gets them when it comes again.
counted.held, counted.kept = tallies.held or counted.held, tallies.kept or counted.kept
counted.bodies = call('HLEN', bodies)
counted.waiting = math.max(counted.bodies - counted.held - counted.kept, 0)
local is_claiming = want > 0 and not is_paused
local is_cut = is_claiming and claim()
while is_limited and is_claiming and claim_is_again() do
  claim_renew()
  is_cut = claim()
end
is_cut = is_cut or counted.is_cut
if granted.count > 0 then grants_write() end
step_remember()
if is_claiming then claimed_drop() end
if event_note and granted.count > 0 then
  for at = 1, #granted.memo, 2 do event_note('S', granted.memo[at], match(granted.memo[at + 1], '^%d+')) end
  local from, ms
  for at = 1, #take.bodies + 1 do
    local its = take.bodies[at] and body_ms(take.bodies[at]) or nil
    if from and its ~= ms then
      event_note('S', line_id(take.first + from - 1, ms), '1', nil, at - from)
      from = nil
    end
    if its and not from then from, ms = at, its end
  end
end
if is_upkeep or (want > 0 and granted.count == 0) then calls_forget() end
if granted.count > 0 then lease_end = lease_end and math.min(lease_end, now + lease) or now + lease end

if dead_most and dead_excess(dead_most) > 0 then forget_at(now) end
local listed, ranked = call('LLEN', ready), call('ZCARD', urgent)
local waiting = math.max(listed - math.max(ghosts, 0), 0) + ranked + counted.waiting
local parked, look = parked_count(), look_next()
-- A token for suspects that stay would come back to us at once.
if waiting > 0 and not is_paused and (granted.count > 0 or granted.passed == 0) then wake_one() end
-- Who claims nothing may be full by then, or on its way out, and the only one who knew.
if want == 0 and (resumes or (due or look) and not is_paused) then wake_one() end
if want == 0 and offers and limits_noted and not is_paused then needs_hand_on() end

-- Of a queue that is calm but for what waits in 'urgent', as redis/lib_lean.lua wants it: nil for others.
local function ranked_until()
  if listed + counted.waiting > 0 or counted.last > line.taken or is_paused or is_cut or dead_excess(dead_most) > 0
    or limits_noted and (head(refills) or call('ZLEXCOUNT', slots, '[N', '(Q') > 0) then return nil end
  local due_at = sooner(head(scheduled), head(block_leases))
  local over_at = sooner(head(dead), sooner(head(cancelled), head(block_ends)))
  local until_ms = sooner(now + LEASE_LOOK_MS, sooner(due_at, over_at))
  return until_ms > now and until_ms .. '|' .. (due_at or 0) .. '|' .. (over_at or 0) or nil
end

-- Until then nothing comes due and only the line has runs to claim: step_fast.lua may be tried.
local calm = sooner(now + 1000, sooner(sooner(over, look), sooner(due, lease_end)))
-- As redis/lib_slots.lua leaves them: what was granted has put some there.
local full_us = limits_noted and head(buckets)
if full_us then calm = sooner(calm, math.ceil(full_us / 1000)) end
if batch_end then
  batches_write()
  counted.has_follow_ups = call('HGET', meta, 'follow_ups')
end
if counted.has_follow_ups and call('ZCARD', follow_ups) == 0 then
  call('HDEL', meta, 'follow_ups')
  counted.has_follow_ups = false
end
if waits_end and call('ZCARD', waits_until) == 0 then call('HDEL', meta, 'waits') end
if event_note then events_write(now) end
local is_calm_now = listed + ranked == 0 and not is_paused and not is_cut and calm > now and not counted.has_follow_ups
if is_calm_now then
  call('HSET', meta, 'calm', calm)
else
  local ranked_calm = ranked > 0 and not batch_end and not counted.has_follow_ups and not waits_end and not event_note and ranked_until()
  if ranked_calm then
    call('HSET', meta, 'calm', ranked_calm)
  elseif is_calm then
    call('HDEL', meta, 'calm')
  end
end
return reply(is_paused, is_cut and 0 or due_in(sooner(resumes, sooner(sooner(forget, look), sooner(due, lease_end)))),
  not due and not lease_end and waiting + parked == 0, acks, beats, is_calm_now)
