-- store/redis/figures.lua - reads what workers count of runs.
-- keys: meta figures figures_rows
-- uses: base layout figures
-- level: reads
--
-- ARGV[2]: hours; ARGV[3]: most rows; ARGV[4]: the job, '' for all; ARGV[5]: the row behind which to begin, when there is
-- one. Reply: now, 1 when more follow, then of each row its name and its text.

local refusal = layout_check()
if refusal then return refusal end
local now, hours, most, job = clock(), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local hour = hour_of(now)
local first = hour_text(math.max(hour - hours + 1, 0))
local from, stop = '[' .. first, '(' .. hour_text(hour + 1)
local behind = ARGV[5] and tonumber(string.sub(ARGV[5], 1, 8)) or -1 -- an hour of which rows were told
if behind > hour - hours then from = '(' .. ARGV[5] end
local reply = {now, 0}

-- False when the page is full.
local function row_add(name, text)
  if not text then return true end
  if #reply == 2 + 2 * most then
    reply[2] = 1
    return false
  end
  local at = #reply
  reply[at + 1], reply[at + 2] = name, text
  return true
end

-- Of one job there is a row an hour.
if job ~= '' then
  for its = math.max(hour - hours + 1, 0), hour do
    local name = hour_text(its) .. job
    if its > behind and not row_add(name, call('HGET', figures, name)) then break end
  end
  return reply
end

local names = call('ZRANGEBYLEX', figures_rows, from, stop, 'LIMIT', 0, most + 1)
for _, name in ipairs(names) do
  if not row_add(name, call('HGET', figures, name)) then break end
end
return reply
