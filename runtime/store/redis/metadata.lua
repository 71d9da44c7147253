-- store/redis/metadata.lua - tells what jobs keep from run to run.
-- keys: meta metadata
-- uses: base layout metadata
-- level: reads
--
-- ARGV[2]: the job; '' for all of the queue, METADATA_MAX at most (ARGV[3]). Reply: now, then of each job its name,
-- version, when it was set, and the bytes.

local refusal = layout_check()
if refusal then return refusal end
local reply, seen = {clock()}, {}

local function told(job, text)
  local m, count = not seen[job] and metadata_parse(text), #reply
  seen[job] = true
  if not m then return end
  reply[count + 1], reply[count + 2], reply[count + 3] = job, tonumber(m.version), m.set_ms
  reply[count + 4] = m.bytes
end

if ARGV[2] ~= '' then
  told(ARGV[2], call('HGET', metadata, ARGV[2]))
  return reply
end
local most, cursor = tonumber(ARGV[3]) * 4 + 1, '0'
repeat
  local page = call('HSCAN', metadata, cursor, 'COUNT', 100)
  for at = 1, #page[2], 2 do
    if #reply < most then told(page[2][at], page[2][at + 1]) end
  end
  cursor = page[1]
until cursor == '0' or #reply >= most
return reply
