-- store/redis/lib_figures.lua - the form of figures (core/figures.h), which are kept for each hour and job.
--
-- `figures`: the text of each row, by its name, 'HOUR|JOB', the hour in eight digits; and '@SESSION', the number of
-- its last call. `figures_rows`: the names of the rows, by their bytes; `figures_calls`: the sessions, by the time of
-- that call.

-- ORDER FIGURE
local FIGURE_TEXT = '^(%d+),(%d+),(%d+),(%d+),(%d+),(%d+);([%d: ]*);([%d: ]*)$'
local FIGURE_COUNTS = 6

local function hour_of(ms)
  return math.floor(ms / 3600000)
end

-- What stands before the name of a job.
local function hour_text(hour)
  return string.format('%08d|', hour)
end

-- Its counts, then what waited and what ran, by bucket; nil for what is in no such form.
local function figure_parse(text)
  local found = {string.match(text or '', FIGURE_TEXT)}
  if not found[1] then return nil end
  for at = 1, FIGURE_COUNTS do found[at] = tonumber(found[at]) end
  for at = FIGURE_COUNTS + 1, FIGURE_COUNTS + 2 do
    local times = {}
    for bucket, count in string.gmatch(found[at], '(%d+):(%d+)') do
      if tonumber(bucket) < FIGURE_BUCKETS then times[tonumber(bucket)] = tonumber(count) end
    end
    found[at] = times
  end
  return found
end

local function figure_number(number)
  return string.format('%.0f', math.min(number, 9007199254740992))
end

local function figure_text(figure)
  local parts = {}
  for at = 1, FIGURE_COUNTS do parts[at] = figure_number(figure[at]) end
  local text = table.concat(parts, ',')
  for at = FIGURE_COUNTS + 1, FIGURE_COUNTS + 2 do
    local times = {}
    for bucket = 0, FIGURE_BUCKETS - 1 do
      local count = figure[at][bucket]
      if count then times[#times + 1] = bucket .. ':' .. figure_number(count) end
    end
    text = text .. ';' .. table.concat(times, ' ')
  end
  return text
end
