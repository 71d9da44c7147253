-- store/redis/worker_tell.lua - a worker tells of itself, and hears what is wished of it.
-- keys: presence presence_told
-- uses: base presence
-- level: works
--
-- ARGV[2]: the worker; ARGV[3]: '1' when it leaves; ARGV[4]: number of the wish that it has taken up;
-- ARGV[5]: its most runs at a time; ARGV[6]: its sheet. Removes some entries that are gone.
-- Reply: number, quiet, stop and concurrency of the wish; an empty list where there is no room.

local SWEEP, MOST = 8, 2048 -- CULEX_STORE_WORKERS_MAX
local now, id = clock(), ARGV[2]
local none = {0, 0, 0, 0}

local function remove(ids)
  if #ids == 0 then return end
  call('HDEL', presence, unpack(ids))
  call('ZREM', presence_told, unpack(ids))
end

if ARGV[3] == '1' then
  remove({id})
  return none
end
remove(call('ZRANGEBYSCORE', presence_told, '-inf', '(' .. now - GONE, 'LIMIT', 0, SWEEP))
remove(call('ZRANGEBYSCORE', presence_told, '(' .. now + GONE, '+inf', 'LIMIT', 0, SWEEP))
local p = presence_parse(call('HGET', presence, id))
if p and presence_is_gone(p, now) then p = nil end
if not p then
  if call('HLEN', presence) >= MOST then return {} end
  p = {number = 0, quiet = '0', stop = '0', wish = 0}
end
-- An entry that says the same, and is young, stays as it is.
local is_same = p.told and p.heard == tonumber(ARGV[4]) and p.most == tonumber(ARGV[5]) and p.sheet == ARGV[6]
if is_same and p.told <= now and now - p.told < STILL then
  return {p.number, tonumber(p.quiet), tonumber(p.stop), p.wish}
end
p.told, p.heard, p.most, p.sheet = now, ARGV[4], ARGV[5], ARGV[6]
call('ZADD', presence_told, now, id)
call('HSET', presence, id, presence_text(p))
return {p.number, tonumber(p.quiet), tonumber(p.stop), p.wish}
