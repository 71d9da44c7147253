-- store/redis/figures_add.lua - adds up what workers count of runs.
-- keys: runs meta bodies figures figures_rows figures_calls
-- uses: base layout known figures
-- level: works
--
-- ARGV[2]: the session; ARGV[3]: the number of its call; from ARGV[4] on: job and figures of each row. Reply: 1; 0 when
-- nobody has used the queue.

local refusal = layout_check()
if refusal then return refusal end
if not is_known() then return 0 end
local now, session, number = clock(), ARGV[2], tonumber(ARGV[3])
local call_field = '@' .. session
local last = tonumber(call('HGET', figures, call_field) or '0')
if last and number <= last then return 1 end
local hour = hour_of(now)

local function forget(members, set, head)
  if #members == 0 then return end
  local fields = {}
  for at, member in ipairs(members) do fields[at] = head .. member end
  write('HDEL', figures, fields)
  write('ZREM', set, members)
end

local function forget_all()
  local kept_from, ahead = hour_text(math.max(hour - FIGURES_HOURS + 1, 0)), hour_text(hour + FIGURES_HOURS)
  forget(call('ZRANGEBYLEX', figures_rows, '-', '(' .. kept_from, 'LIMIT', 0, FORGET_MAX), figures_rows, '')
  forget(call('ZRANGEBYLEX', figures_rows, '[' .. ahead, '+', 'LIMIT', 0, FORGET_MAX), figures_rows, '')
  local old, later = now - FIGURES_REPEAT_MS, now + FIGURES_REPEAT_MS
  forget(call('ZRANGEBYSCORE', figures_calls, '-inf', '(' .. old, 'LIMIT', 0, FORGET_MAX), figures_calls, '@')
  forget(call('ZRANGEBYSCORE', figures_calls, '(' .. later, '+inf', 'LIMIT', 0, FORGET_MAX), figures_calls, '@')
end

local rows_left -- how many more there may be, once that was asked

local function is_room()
  rows_left = rows_left or FIGURES_ROWS_MAX - call('ZCARD', figures_rows)
  return rows_left > 0
end

-- The name of the row to which figures of `job` go, and what it says by now.
local function row_of(job, added)
  local name = hour_text(hour) .. job
  local text = added[name] or call('HGET', figures, name)
  if text or is_room() then
    if not text then rows_left = rows_left - 1 end
    return name, text
  end
  name = hour_text(hour)
  return name, added[name] or call('HGET', figures, name)
end

local function sum(text, more)
  local total, added = figure_parse(text), figure_parse(more)
  if not total then return more end
  for at = 1, FIGURE_COUNTS do total[at] = total[at] + added[at] end
  for at = FIGURE_COUNTS + 1, FIGURE_COUNTS + 2 do
    for bucket, count in pairs(added[at]) do total[at][bucket] = (total[at][bucket] or 0) + count end
  end
  return figure_text(total)
end

forget_all()
local names, added, members, fields = {}, {}, {}, {call_field, ARGV[3]}
for at = 4, #ARGV, 2 do
  local name, text = row_of(ARGV[at], added)
  if not added[name] then names[#names + 1] = name end
  added[name] = sum(text, ARGV[at + 1])
end
call('ZADD', figures_calls, now, session)
for at, name in ipairs(names) do
  members[at * 2 - 1], members[at * 2] = 0, name
  fields[at * 2 + 1], fields[at * 2 + 2] = name, added[name]
end
write('ZADD', figures_rows, members)
call('HSET', figures, unpack(fields))
return 1
