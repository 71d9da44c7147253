-- store/redis/worker_set.lua - wishes something of a worker, or of all.
-- keys: presence presence_told
-- uses: base presence
-- level: works
--
-- ARGV[2]: the worker, '' for all; ARGV[3]: quiet, 0 to leave it; ARGV[4]: '1' to stop; ARGV[5]: runs at a
-- time, 0 to leave that. Reply: for how many workers; -1 when there is no such worker; and its most runs
-- at a time, negative and less one, when those are fewer.

local now, id, wish = clock(), ARGV[2], tonumber(ARGV[5])
local ids = {id}
if id == '' then ids = call('ZRANGEBYSCORE', presence_told, now - GONE, now + GONE) end
local texts, changed, count = read(presence, ids), {}, 0

-- False when nothing changes.
local function join(p)
  local quiet = ARGV[3] == '0' and p.quiet or ARGV[3]
  local stop = ARGV[4] == '1' and '1' or p.stop
  local most = wish == 0 and p.wish or math.min(wish, p.most)
  if quiet == p.quiet and stop == p.stop and most == p.wish and p.number ~= 0 then return false end
  p.quiet, p.stop, p.wish = quiet, stop, most
  p.number = math.max(now, math.max(p.number, p.heard) + 1)
  return true
end

for at = 1, #ids do
  local p = presence_parse(texts[at])
  if p and not presence_is_gone(p, now) then
    if id ~= '' and wish > p.most then return -1 - p.most end
    count = count + 1
    if join(p) then
      changed[#changed + 1] = ids[at]
      changed[#changed + 1] = presence_text(p)
    end
  end
end
if id ~= '' and count == 0 then return -1 end
write('HSET', presence, changed)
return count
