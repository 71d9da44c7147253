-- store/redis/lib_producers.lua - the last enqueue call of each producer, so that its repeat is known.
--
-- ARGV[3]: the producer, 16 hex digits, '' for a call that nobody will repeat; ARGV[4]: its sequence, 19
-- digits, and its digest, 16 hex digits; ARGV[5]: the sequence's time. Texts go in and out as they are: making one of a
-- number is slow. A call that is not to be done ends here: with its first answer once more, '!' for a
-- conflict, '?' for a ticket of another time.

local ADDS_FORGET = 4
local sub = string.sub
local producer, made, entry, listed = ARGV[3], ARGV[4], false, '0'
if producer ~= '' then
  entry = call('HGET', producers, producer)
  if entry then
    listed = string.match(entry, '^(%d+)|', 37) or '0'
    -- Not past that call yet, unless what is kept of it is over by now.
    if sub(entry, 1, 19) >= sub(made, 1, 19) then
      local last, _, lane, first, ms, was, letters, joined = string.match(entry, CALL_ENTRY)
      if last and now <= call_until(last, ms) then
        if last ~= made then return {'!'} end
        local answer = {letters, lane * LANE + first, tonumber(ms), tonumber(was)}
        for at = 1, #joined, 16 do answer[#answer + 1] = sub(joined, at, at + 15) end
        return answer
      end
    end
  end
  if math.abs(ARGV[5] - now) > TICKET_HORIZON_MS then return {'?'} end
end

-- Sees to it that the call is forgotten in time, and not before.
local function call_list()
  if producer == '' then return end
  local forget_at = math.max(ARGV[5], now) + TICKET_HORIZON_MS
  if not entry then memory_forget(producers, producers_until, now, ADDS_FORGET) end
  if tonumber(listed) >= forget_at then return end
  listed = tostring(forget_at + LISTED_SLACK_MS)
  call('ZADD', producers_until, listed, producer)
end

-- Remembers the call: `first` is the number of its first new run.
local function call_remember(lane, first, answers, others)
  if producer == '' then return end
  call('HSET', producers, producer,
    made .. '|' .. listed .. '|' .. lane .. '|' .. first .. '|' .. now_text .. salt .. '|' .. answers .. '|' .. others)
end
