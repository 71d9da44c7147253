-- store/redis/lib_leases.lua - who holds a run and until when: STEP's beats, and leases that ran out.

local function holds(r, attempt)
  return r.state == ACTIVE and r.attempt == attempt and r.owner == session
end

-- The longest lease that was given in this queue; nil when none was. Known before it is given.
local longest

local function lease_note()
  if longest and longest >= lease then return end
  longest = lease
  call('HSET', meta, 'lease', lease)
end

local beats_extend
do
-- The timeout counts anew from where it ends after `extend` more ms; never from earlier.
local function timeout_extend(r, timeout, extend)
  r.timeout_from_ms = math.max(tonumber(r.timeout_from_ms), now + extend - timeout)
end

local progress_puts = {}

local function beat_extend(id, r, order)
  if not r then return 'G' end
  local attempt, extend, started, words = string.match(order, '^(%d+)|(%d+)|([012])|(.*)$')
  if not holds(r, attempt) then
    count('stale', 1)
    return 'S'
  end
  local timeout = tonumber(string.match(r.tail, TAIL_timeout_ms))
  r.at_ms = now + lease
  if timeout > 0 then
    if extend ~= '0' then timeout_extend(r, timeout, tonumber(extend)) end
    r.at_ms = math.min(r.at_ms, r.timeout_from_ms + timeout + TIMEOUT_SLACK_MS)
  end
  if started ~= '0' then r.started = started == '1' and 1 or 0 end
  if words ~= '' then put(progress_puts, id, words) end
  put(lease_puts, r.at_ms, id)
  put(record_puts, id, record_text(r))
  return r.cancel == '1' and 'C' or 'O'
end

function beats_extend()
  if beat_count == 0 then return '' end
  local first, ids, answers, records = 11 + ack_count * 3, {}, {}, {}
  for at = 1, beat_count do ids[at] = ARGV[first + at * 2 - 2] end
  local texts = read(runs, ids)
  for at = 1, beat_count do
    -- A run that is named twice goes on from what its first beat made of it.
    local r = records[ids[at]] or texts[at] and record_parse(texts[at])
    records[ids[at]] = r
    answers[at] = beat_extend(ids[at], r, ARGV[first + at * 2 - 1])
  end
  if #lease_puts > 0 then lease_note() end
  write('HSET', progress, progress_puts)
  plan_write()
  return table.concat(answers)
end
end

local reap, leases_cut
do
-- The entry of `active` leads to a run that is not: `r` is nil when its record cannot be read.
local function lease_skip(id, text, r)
  lease_drops[#lease_drops + 1] = id
  if text and not r then aside_put(id, text) end
end

function reap()
  local ids = call('ZRANGEBYSCORE', active, '-inf', now, 'LIMIT', 0, REAP_MAX)
  local texts = read(runs, ids)
  -- Most go to the front: the first one last, so that it is first again.
  for at = #ids, 1, -1 do
    local id = ids[at]
    local r = texts[at] and record_parse(texts[at])
    if r and r.state == ACTIVE then
      vanish(id, r, 'the lease of ' .. r.owner .. '-' .. r.attempt .. ' ran out', now)
    else
      lease_skip(id, texts[at], r)
    end
  end
  plan_write()
end

-- A lease from before the clock was set back would keep its run from others for the length of the
-- jump. Its holder, if it lives, beats before the new end. Looked for once in LEASE_LOOK_MS, which is
-- enough: in less time no clock goes back by more than the leases are granted. True when it has looked,
-- for the upkeep that is due as often.
function leases_cut(looked)
  if not longest or looked and now >= looked and now - looked < LEASE_LOOK_MS then return false end
  local ids = call('ZRANGEBYSCORE', active, now + longest + LEASE_LOOK_MS + 1, '+inf', 'LIMIT', 0, REAP_MAX)
  local texts = read(runs, ids)
  for at, id in ipairs(ids) do
    local r = texts[at] and record_parse(texts[at])
    if r and r.state == ACTIVE then
      r.at_ms = now + longest
      put(lease_puts, r.at_ms, id)
      put(record_puts, id, record_text(r))
    else
      lease_skip(id, texts[at], r)
    end
  end
  plan_write()
  call('HSET', meta, 'looked', #ids < REAP_MAX and now or 0)
  return true
end
end
