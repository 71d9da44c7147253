-- store/redis/list.lua - reads a page of a queue's runs.
-- keys: runs ready urgent scheduled active done cancelled dead meta
-- uses: base layout known told
-- level: reads
--
-- These are runs in state ARGV[2] from place ARGV[3] on, at most ARGV[4]; in every state for '*', and then
-- about as many: the indexes shift under a reader while workers claim, a scan of the records does
-- not.
-- Reply: next place (0 at the end), then id, record...; empty when nobody has used the queue.

local refusal = layout_check()
if refusal then return refusal end
if ARGV[3] == '0' and not is_known() then return {} end
local now, state, from, limit = clock(), ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local sets = {[SCHEDULED] = scheduled, [ACTIVE] = active, [DONE] = done, [CANCELLED] = cancelled,
  [DEAD] = dead}
local ids, total

if state == '*' then
  local page = call('HSCAN', runs, ARGV[3], 'COUNT', limit)
  local fields, shown = page[2], {tonumber(page[1])}
  for at = 1, #fields, 2 do
    if #fields[at] == 16 and #fields[at + 1] <= RECORD_BYTES_MAX then
      shown[#shown + 1] = fields[at]
      shown[#shown + 1] = record_told(fields[at + 1], now)
    end
  end
  return shown
end

-- Waiting runs: those with a priority first, then the list, then those of the scheduled that are due.
-- Places among the scheduled count from the first of all, so that time alone shifts none.
local due = (state == WAITING or state == SCHEDULED) and call('ZCOUNT', scheduled, '-inf', now) or 0
if state == WAITING then
  local first = call('ZCARD', urgent)
  local listed = first + call('LLEN', ready)
  total = listed + due
  ids = from < first and call('ZRANGE', urgent, from, from + limit - 1) or {}
  local function append(command, key, before, last)
    local start = math.max(from - before, 0)
    last = math.min(start + limit - #ids - 1, last)
    if last < start then return end
    for _, id in ipairs(call(command, key, start, last)) do ids[#ids + 1] = id end
  end
  append('LRANGE', ready, first, listed - first - 1)
  append('ZRANGE', scheduled, listed, due - 1)
else
  total = call('ZCARD', sets[state])
  from = math.max(from, due)
  ids = call('ZRANGE', sets[state], from, from + limit - 1)
end

local reply = {0}
if #ids > 0 and from + #ids < total then reply[1] = from + #ids end
local texts = read(runs, ids)
for at, id in ipairs(ids) do
  local text = texts[at] and #texts[at] <= RECORD_BYTES_MAX and record_told(texts[at], now)
  local r = text and record_parse(text)
  if r and r.state == state then
    reply[#reply + 1] = id
    reply[#reply + 1] = text
  end
end
return reply
