-- store/redis/lib_callers.lua - calls of several producers in one, a run each: does what
-- redis/lib_producers.lua does for one, and remembers them in the same form.
--
-- ARGV[3]: the producers, 16 hex digits each; ARGV[4]: their sequences, 19 digits, and digests, 16 hex
-- digits, one behind the other in the same order; ARGV[5] is not used. When one of them is known, all are
-- refused.

local CALLER_FORGETS = 4
local sub = string.sub
local callers, calls, listed = {}, {}, {}
for at = 1, #ARGV[3] / 16 do
  callers[at] = sub(ARGV[3], at * 16 - 15, at * 16)
  calls[at] = sub(ARGV[4], at * 35 - 34, at * 35)
end
local entries = call('HMGET', producers, unpack(callers))

local function call_ms(at)
  return tonumber(sub(calls[at], 1, 15))
end

for at, made in ipairs(calls) do
  local entry = entries[at]
  listed[at] = entry and string.match(entry, '^(%d+)|', 37) or '0'
  if entry and sub(entry, 1, 19) >= sub(made, 1, 19) then
    -- Not past that call yet, unless what is kept of it is over by now.
    local last, _, _, _, ms = string.match(entry, CALL_ENTRY)
    if last and now <= call_until(last, ms) then return {'!'} end
  end
  if math.abs(call_ms(at) - now) > TICKET_HORIZON_MS then return {'?'} end
end

-- A call that brought no run is not remembered.
local function has_brought(answers, at)
  return answers == '' or string.find(answers, '^[NR]', at) ~= nil
end

local function caller_list(at, puts)
  local forget_at = math.max(call_ms(at), now) + TICKET_HORIZON_MS
  if tonumber(listed[at]) >= forget_at then return end
  listed[at] = tostring(forget_at + LISTED_SLACK_MS)
  puts[#puts + 1] = listed[at]
  puts[#puts + 1] = callers[at]
end

local function call_list(answers)
  local puts, news = {}, 0
  for at = 1, #callers do
    if has_brought(answers, at) then
      if not entries[at] then news = news + 1 end
      caller_list(at, puts)
    end
  end
  if news > 0 then memory_forget(producers, producers_until, now, CALLER_FORGETS * news) end
  write('ZADD', producers_until, puts)
end

-- `others`: ids of the runs to which keys led, for each that is neither new nor refused for want of room.
local function call_remember(lane, first, answers, others)
  local puts, other = {}, 1
  for at, caller in ipairs(callers) do
    local letter = answers == '' and 'N' or sub(answers, at, at)
    if has_brought(answers, at) then
      puts[#puts + 1] = caller
      puts[#puts + 1] = calls[at] .. '|' .. listed[at] .. '|' .. lane .. '|' .. first .. '|' .. now_text .. salt
        .. (letter == 'N' and '||' or '|R|' .. sub(others, other, other + 15))
    end
    if letter == 'N' then first = first + 1 elseif letter ~= 'F' then other = other + 16 end
  end
  write('HSET', producers, puts)
end
