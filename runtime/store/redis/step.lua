-- store/redis/step.lua - the fused operation of a worker: acks, beats, upkeep, claims.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active done cancelled dead errors results progress unique meta wake sessions sessions_seen keys keys_until producers producers_until damaged
-- uses: base request layout plan wake aside memory dues retention leases acks claims
-- level: works
--
-- store/store.h is the contract, lib_request.lua has ARGV.
-- Reply: now due_in_ms flags acks beats, then per grant: id record payload
-- Flags: 1 paused, 2 empty, 4 held, 8 replaced, 16 passed, 32 for each expired run

local function reply(is_paused, due, is_empty, acks, beats)
  local flags = (is_paused and 1 or 0) + (is_empty and 2 or 0) + (news.is_held and 4 or 0)
    + (news.is_replaced and 8 or 0) + (passed_count > 0 and 16 or 0) + 32 * news.expired
  return {now, due, flags, acks, beats, unpack(grants)}
end

local facts = call('HMGET', meta, 'paused', 'layout', 'ghosts', 'lease', 'looked')
local refusal = layout_refusal(facts[2])
if refusal then return refusal end
local is_paused = facts[1] == '1'
ghosts, longest = facts[3], tonumber(facts[4] or nil)
local last = call('HGET', sessions, session)
local last_nonce, last_seen
if last then last_nonce, last_seen = string.match(last, '^(%x+)|(%d+)|') end

-- What is said when nothing is done.
local function reply_unchanged(acks, beats)
  local due, lease_end = head(scheduled), head(active)
  return reply(is_paused, due_in(sooner(due, lease_end)),
    not due and not lease_end and waiting_count() == 0, acks, beats)
end

-- Hex without leading zeros: the longer one is greater.
local function is_older(a, b)
  return #a < #b or #a == #b and a < b
end

-- Sent before the session's last step, from a connection that was closed since: grants would reach
-- nobody, and what it says has been said again.
if last_nonce and is_older(nonce, last_nonce) then
  news.is_replaced = #last_nonce > 16
  return reply_unchanged(string.rep('S', ack_count), string.rep('S', beat_count))
end

if last_nonce == nonce then
  local last_acks, last_beats, last_grants = string.match(last, '^%x+|%d+|(%u*)|(%u*)|(.*)$')
  remembered_grants(last_grants)
  return reply_unchanged(last_acks, last_beats)
end

-- The server refuses a script under memory pressure only when its first write is one that
-- may need memory. This one does nothing, so acks and beats pass.
call('ZREM', active, '')

local acks, is_veiled = acks_settle()
local beats = beats_extend()
local is_seen = last_seen and now - last_seen <= 60000 and now >= tonumber(last_seen)

local function step_remember()
  if not is_seen then
    -- Longer than it may hold a run without a word: its name must lead to it.
    call('ZADD', sessions_seen, now + math.max(lease + 60000 - SESSION_TTL_MS, 0), session)
    last_seen = now
  end
  call('HSET', sessions, session,
    nonce .. '|' .. last_seen .. '|' .. acks .. '|' .. beats .. '|' .. table.concat(memo))
end

-- Should what follows be refused, the same step comes again and must not find its acks stale. (A
-- success that is kept is known from its record.)
if is_veiled then step_remember() end
local is_upkeep = leases_cut(tonumber(facts[5] or nil)) or not is_seen
local lease_end = head(active)
if lease_end and lease_end <= now then
  reap()
  lease_end = head(active)
end
local due = head(scheduled)
if due and due <= now then
  promote()
  due = head(scheduled)
end
final_forget(done)
final_forget(dead)
final_forget(cancelled)
if is_upkeep then sessions_forget() end

-- The step is remembered before entries leave for its grants: should that be refused, the same step
-- gets them when it comes again.
local is_claiming = want > 0 and not is_paused
local is_cut = is_claiming and claim()
if grant_count > 0 then lease_note() end
write('ZADD', active, claim_leases)
write('HSET', runs, claim_puts)
step_remember()
if is_claiming then claimed_drop() end
if is_upkeep or (want > 0 and grant_count == 0) then calls_forget() end
if grant_count > 0 then lease_end = lease_end and math.min(lease_end, now + lease) or now + lease end

local waiting = waiting_count()
-- A token for suspects that stay would come back to us at once.
if waiting > 0 and not is_paused and (grant_count > 0 or passed_count == 0) then wake_one() end

return reply(is_paused, is_cut and 0 or due_in(sooner(forget, sooner(due, lease_end))),
  not due and not lease_end and waiting == 0, acks, beats)
