-- store/redis/lib_producers.lua - the last enqueue call of each producer, so that its repeat is known.
--
-- ARGV[3]: the producer, 16 hex digits, '' for a call that nobody will repeat; ARGV[4]: its sequence, 15,
-- and its digest, 16; ARGV[5]: the sequence's time. Texts go in and out as they are: making one of a
-- number is slow.

local ADDS_FORGET = 4
local sub = string.sub
local producer, entry, listed = ARGV[3], false, '0'

local function answer_again(before, ms, salt, letters, joined)
  local answer = {letters, before + 1, tonumber(ms), tonumber(salt)}
  for at = 1, #joined, 16 do answer[#answer + 1] = sub(joined, at, at + 15) end
  return answer
end

-- The producer is not past that call yet: nil when what is kept of it is over by now.
local function entry_answer(now)
  local last, _, before, ms, salt, letters, joined = string.match(entry, CALL_ENTRY)
  if not last or now > call_until(last, ms) then return nil end
  return last == ARGV[4] and answer_again(before, ms, salt, letters, joined) or {'!'}
end

-- The answer to a call that is not done: its first answer once more, '!' for a conflict, '?' for a
-- ticket of another time. Nil when it is to be done.
local function call_answer(now)
  if producer == '' then return nil end
  entry = call('HGET', producers, producer)
  if entry then
    listed = sub(entry, 33, (string.find(entry, '|', 33, true) or 33) - 1)
    local answer = sub(entry, 1, 15) >= sub(ARGV[4], 1, 15) and entry_answer(now)
    if answer then return answer end
  end
  return math.abs(ARGV[5] - now) > TICKET_HORIZON_MS and {'?'} or nil
end

-- Sees to it that the call is forgotten in time, and not before.
local function call_list(now)
  if producer == '' then return end
  local forget_at = math.max(ARGV[5], now) + TICKET_HORIZON_MS
  if not entry then memory_forget(producers, producers_until, now, ADDS_FORGET) end
  if (tonumber(listed) or 0) >= forget_at then return end
  listed = tostring(forget_at + LISTED_SLACK_MS)
  call('ZADD', producers_until, listed, producer)
end

-- Field and value of what is remembered of a call that was answered with `answers` and `others`, at the
-- time and with the salt in `made`; `before` is the queue's number before it.
local function call_memos(before, made, answers, others)
  if producer == '' then return {} end
  local entry_text = ARGV[4] .. '|' .. listed .. '|' .. before .. '|' .. made .. '|' .. answers .. '|' .. table.concat(others)
  return {producer, entry_text}
end
