-- store/redis/lib_acks.lua - how executions ended: the acks of a STEP.

-- Successes that are kept for no time leave no record behind.
local forgotten = {}

local function done_forget(id, key)
  forgotten[#forgotten + 1] = id
  lease_drops[#lease_drops + 1] = id
  payload_drops[#payload_drops + 1] = id
  unique_release(id, key)
  count('done', 1)
end

local function ack_settle(id, r, order, blob)
  local event, attempt, delay, has_blob, words = string.match(order, '^(%u+)|(%d+)|(%-?%d+)|([01])|?(.*)$')
  if not r then return 'G' end
  if not holds(r, attempt) then
    if event == 'DONE' and r.state == DONE and r.attempt == attempt and r.owner == session then
      return 'R'
    end
    count('stale', 1)
    return 'S'
  end
  if event == 'FAIL' or event == 'DISCARD' then count('failed', 1) end
  if event == 'CRASH' then count('crashed', 1) end
  if event == 'LOSS' then count('lost', 1) end
  if event == 'DONE' and string.match(r.tail, TAIL_keep_success_ms) == '0' then
    done_forget(id, string.match(r.tail, TAIL_unique_key))
    return 'O'
  end
  if has_blob == '1' then put(event == 'DONE' and result_puts or text_puts, id, blob) end
  if words ~= '' then call('HSET', progress, id, words) end
  leave(id, r, event, tonumber(delay), now, event == 'LOSS' and 1 or 0)
  return 'O'
end

-- Plain successes of the holder, which are most of what happens: what leave() would do, without
-- taking records apart. An attempt's records all begin alike while we hold them, and all
-- begin alike when they are done and kept for the same time.
-- (Lua knows 200 locals in a script: what only one part needs stands in a block of its own.)
local done_settle, dones_write
do
local helds, ended, ended_records, ended_scores, ended_count = {}, {}, {}, {}, 0

local function held_make(attempt)
  local before = version_text .. '|' .. ACTIVE .. '|' .. attempt .. '|' .. session .. '|'
  local held = {before = before, len = #before, dones = {}, untils = {}}
  helds[attempt] = held
  return held
end

local function done_make(held, attempt, keep)
  local until_text = text_of(now + tonumber(keep))
  local done_text = version_text .. '|' .. NEXT[ACTIVE .. '_DONE'] .. '|' .. attempt .. '|' .. session .. '|'
    .. until_text .. '|0|0|'
  held.dones[keep], held.untils[keep] = done_text, until_text
  return done_text
end

function done_settle(id, text, attempt)
  local held = helds[attempt] or held_make(attempt)
  local len = held.len
  if sub(text, 1, len) ~= held.before then return false end
  local _, _, rest, keep, key = find(text, RECORD_HELD, len + 1)
  if not rest then return false end
  if keep == '0' then done_forget(id, key) return true end
  local done_text = held.dones[keep] or done_make(held, attempt, keep)
  local pair = ended_count * 2
  ended_count = ended_count + 1
  ended[ended_count] = id
  ended_records[pair + 1] = id
  ended_records[pair + 2] = done_text .. sub(text, rest)
  ended_scores[pair + 1] = held.untils[keep]
  ended_scores[pair + 2] = id
  if key ~= '' then unique_release(id, key) end
  return true
end

function dones_write()
  if ended_count == 0 then return end
  write('HSET', runs, ended_records)
  write('ZADD', done, ended_scores)
  write('ZREM', active, ended)
  write('HDEL', payloads, ended)
  count('done', ended_count)
end
end

-- The second result: whether an end was recorded that its run's record does not show to be this one.
local function acks_settle()
  if ack_count == 0 then return '', false end
  local is_veiled = false
  local ids, answers, plain = {}, {}, {}
  for at = 1, ack_count do ids[at] = ARGV[8 + at * 3] end
  local texts = read(runs, ids)
  for at = 1, ack_count do
    local base, id, text = 8 + at * 3, ids[at], texts[at]
    local order = ARGV[base + 1]
    local attempt = plain[order]
    if attempt == nil then
      attempt = string.match(order, '^DONE|(%d+)|0|0$') or false
      plain[order] = attempt
    end
    if attempt and text and done_settle(id, text, attempt) then
      answers[at] = 'O'
    else
      answers[at] = ack_settle(id, text and record_parse(text), order, ARGV[base + 2])
      is_veiled = is_veiled or answers[at] == 'O' and sub(order, 1, 4) ~= 'DONE'
    end
  end
  dones_write()
  if #forgotten > 0 then runs_forget(forgotten) end
  plan_write()
  return table.concat(answers), is_veiled
end
