-- keys: runs ready urgent scheduled active done cancelled dead
-- uses: base
--
-- Runs in state ARGV[2] from place ARGV[3] on, at most ARGV[4]; in every state for '*', and then
-- about as many: the indexes shift under a reader while workers claim, a scan of the records does
-- not.
-- Reply: next place (0 at the end), then id, record...

local state, from, limit = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local sets = {[SCHEDULED] = scheduled, [ACTIVE] = active, [DONE] = done, [CANCELLED] = cancelled,
  [DEAD] = dead}
local ids, total

if state == '*' then
  local page = call('HSCAN', runs, ARGV[3], 'COUNT', limit)
  local fields, shown = page[2], {tonumber(page[1])}
  for at = 1, #fields, 2 do
    if #fields[at] == 16 and #fields[at + 1] <= RECORD_BYTES_MAX then
      shown[#shown + 1] = fields[at]
      shown[#shown + 1] = fields[at + 1]
    end
  end
  return shown
end

-- Waiting runs: those with a priority first, then the list.
if state == WAITING then
  local first = call('ZCARD', urgent)
  total = first + call('LLEN', ready)
  ids = from < first and call('ZRANGE', urgent, from, from + limit - 1) or {}
  if #ids < limit then
    local start = math.max(from - first, 0)
    for _, id in ipairs(call('LRANGE', ready, start, start + limit - #ids - 1)) do
      ids[#ids + 1] = id
    end
  end
else
  total = call('ZCARD', sets[state])
  ids = call('ZRANGE', sets[state], from, from + limit - 1)
end

local reply = {0}
if #ids > 0 and from + #ids < total then reply[1] = from + #ids end
local texts = read(runs, ids)
for at, id in ipairs(ids) do
  local r = texts[at] and record_parse(texts[at])
  if r and r.state == state then
    reply[#reply + 1] = id
    reply[#reply + 1] = texts[at]
  end
end
return reply
