-- store/redis/probe.lua - tries whether the user may use the commands of the scripts.
-- keys: probe meta
-- uses: base layout
-- level: repairs
--
-- A queue of another layout is refused before anything is written. Each is tried on a key of its own, because a command that is denied midway leaves a script half
-- done; prelude.py knows what scripts of a level need. ARGV[2]: 'producer', 'worker' or 'operator'.
-- Reply: '' or the server's refusal, the command's name before it.

-- UNLINK comes first: it needs no memory, and after it none of the others is refused for memory.
local producer = {{'TIME'}, {'UNLINK', probe}, {'HSET', probe, 'f', '1'}, {'HMGET', probe, 'f'},
  {'HGET', probe, 'f'}, {'HEXISTS', probe, 'f'}, {'HLEN', probe}, {'HINCRBY', probe, 'f', 1}, {'HDEL', probe, 'f'}, {'UNLINK', probe},
  {'RPUSH', probe, 'e'}, {'LLEN', probe}, {'UNLINK', probe}, {'ZADD', probe, 1, 'e'}, {'ZCARD', probe},
  {'ZRANGEBYSCORE', probe, 0, 0, 'LIMIT', 0, 1}, {'ZRANGE', probe, 0, 0}, {'ZSCORE', probe, 'e'},
  {'ZRANGEBYLEX', probe, '-', '+', 'LIMIT', 0, 1}, {'ZLEXCOUNT', probe, '-', '+'}, {'ZREM', probe, 'e'}, {'UNLINK', probe}}
local worker = {{'HSET', probe, 'f', '1'}, {'HLEN', probe}, {'UNLINK', probe},
  {'RPUSH', probe, 'e'}, {'LRANGE', probe, 0, 0}, {'LPOP', probe, 1}, {'UNLINK', probe},
  {'ZADD', probe, 1, 'e'},
  {'ZREVRANGEBYSCORE', probe, 0, 0, 'WITHSCORES', 'LIMIT', 0, 1},
  {'ZREMRANGEBYRANK', probe, 0, 0}, {'UNLINK', probe}}

local operator = {{'HSET', probe, 'f', '1'}, {'HSCAN', probe, 0}, {'PTTL', probe}, {'PERSIST', probe},
  {'UNLINK', probe},
  {'ZADD', probe, 1, 'e'}, {'ZSCAN', probe, 0}, {'UNLINK', probe}}

local function refusal(commands)
  for _, command in ipairs(commands) do
    local reply = redis.pcall(unpack(command))
    if type(reply) == 'table' and reply.err then
      redis.pcall('UNLINK', probe)
      return command[1] .. ': ' .. reply.err
    end
  end
  return ''
end

local text = refusal({{'HMGET', meta, 'layout'}})
local other = text == '' and layout_check()
if other then return other end
if text == '' then text = refusal(producer) end
if text == '' and ARGV[2] ~= 'producer' then text = refusal(worker) end
if text == '' and ARGV[2] == 'operator' then text = refusal(operator) end
return text
