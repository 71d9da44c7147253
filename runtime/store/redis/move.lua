-- store/redis/move.lua - gives a run that waits, or is scheduled, another time or priority.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active done cancelled dead errors results unique unique_until meta wake bodies blocks spans block_leases block_ends limits limited slots buckets refills events
-- uses: base events layout paused unique plan slots parking bodies blocks wake
-- level: works
--
-- ARGV[2]: the run; ARGV[3]: 'delay_ms|at_ms', '' for the time that it has; ARGV[4]: the priority, '' for the one
-- that it has. Reply: 'O', '' unknown, '!' and the letter of a state in which it cannot be moved, 'L' when its time
-- for retries is over by then, '?' damaged.

local facts = call('HMGET', meta, 'layout', 'events')
local refusal = layout_refusal(facts[1])
if refusal then return refusal end
events_begin(facts[2])
local now, id = clock(), ARGV[2]
local text = call('HGET', runs, id)
local o = not text and ordinary_find(id)
if not text and not o then return '' end
if o and not o.head then return '?' end
local r = o and ordinary_adopt(o) or record_parse(text)
if not r then return '?' end
-- What an adoption has planned is not carried out where nothing changes.
if r.state ~= WAITING and r.state ~= SCHEDULED then return '!' .. r.state end

local delay, at = string.match(ARGV[3], '^(%d+)|(%d+)$')
local before = priority_of(r)
local level = ARGV[4] ~= '' and tonumber(ARGV[4]) or before
-- Until when it was to wait, and is.
local wait_before = r.state == SCHEDULED and math.max(tonumber(r.at_ms), now) or now
local wait = not delay and wait_before or math.max(at ~= '0' and tonumber(at) or now + tonumber(delay), now)
local is_timed = math.max(wait, wait_before) > now and delay ~= nil
if not is_timed and level == before then return 'O' end

local expires, has_failed = tonumber(r.expires_at_ms), r.failures + r.crashes + r.losses > 0
if is_timed and expires > 0 then
  if not has_failed then r.expires_at_ms = expires + wait - wait_before
  elseif wait >= expires then return 'L' end
end

-- Since when it waits; one that stands in `urgent`, or has limits, knows it by its place there.
local rank = r.state == WAITING and not o and call('ZSCORE', urgent, id)
local has_place = r.state == WAITING and r.behind ~= '0'
local place = has_place and limited_score(id) or rank
local since = place and place + before * 17592186044416 or tonumber(string.match(r.tail, TAIL_created_at_ms))
local to = not is_timed and r.state or wait > now and SCHEDULED or WAITING
if not o and (to ~= r.state or to == WAITING and not rank) then index_leave(id, r) end
if has_place then place_leave(id, r) end
if to == SCHEDULED and before > 0 and level == 0 then plan_add('urgent_due_drops', id) end
if level ~= before then
  local head = string.match(r.tail, BEFORE_priority)
  r.tail = head .. level .. string.sub(r.tail, #head + 2)
end
if to == SCHEDULED then
  if is_timed then r.at_ms = wait end
  if has_place then r.behind = 1 end
  r.state = to
  due_put(id, r)
else
  if r.state == SCHEDULED then since = now end
  if r.state == SCHEDULED then r.at_ms = now end
  r.state = to
  ready_put(id, r, since)
  if rank and tonumber(r.behind) > 1 then plan_add('urgent_drops', id) end
end
if is_timed then
  unique_runs[id] = r
  unique_return(id, r, now)
end
plan_put('record_puts', id, record_text(r))
plan_write()
if event_note then
  event_note('M', id, r.attempt)
  events_write(now)
end

-- Who waits for work may know of nothing that is due so soon.
local is_next = to == WAITING or call('ZRANGEBYSCORE', scheduled, '-inf', '+inf', 'LIMIT', 0, 1)[1] == id
if (is_timed and is_next or look_soonest) and not is_paused_at(call('HGET', meta, 'paused'), now) then wake_one() end
return 'O'
