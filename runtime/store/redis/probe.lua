-- store/redis/probe.lua - tries whether the user may use the commands of the scripts.
-- keys: probe
-- uses: base
-- level: repairs
--
-- Each is tried on a key of its own, because a command that is denied midway leaves a script half
-- done; prelude.py knows what scripts of a level need. ARGV[2]: 'producer', 'worker' or 'operator'.
-- Reply: '' or the server's refusal, the command's name before it.

-- UNLINK comes first: it needs no memory, and after it none of the others is refused for memory.
local producer = {{'TIME'}, {'UNLINK', probe}, {'HSET', probe, 'f', '1'}, {'HMGET', probe, 'f'},
  {'HGET', probe, 'f'}, {'HEXISTS', probe, 'f'}, {'HINCRBY', probe, 'f', 1}, {'UNLINK', probe},
  {'RPUSH', probe, 'e'}, {'LLEN', probe}, {'UNLINK', probe}, {'ZADD', probe, 1, 'e'}, {'ZCARD', probe},
  {'UNLINK', probe}, {'SMISMEMBER', probe, 'e'}}
local worker = {{'HSET', probe, 'f', '1'}, {'HLEN', probe}, {'HDEL', probe, 'f'}, {'UNLINK', probe},
  {'LPUSH', probe, 'e'}, {'LRANGE', probe, 0, 0}, {'LSET', probe, 0, 'e'}, {'LPOP', probe, 1}, {'UNLINK', probe},
  {'ZADD', probe, 1, 'e'}, {'ZRANGE', probe, 0, 0}, {'ZRANGEBYSCORE', probe, 0, 0, 'LIMIT', 0, 1},
  {'ZREVRANGEBYSCORE', probe, 0, 0, 'WITHSCORES', 'LIMIT', 0, 1},
  {'ZREM', probe, 'e'}, {'ZREMRANGEBYRANK', probe, 0, 0}, {'UNLINK', probe}, {'SADD', probe, 'e'}, {'UNLINK', probe}}

local operator = {{'HSET', probe, 'f', '1'}, {'HSCAN', probe, 0}, {'PTTL', probe}, {'PERSIST', probe},
  {'UNLINK', probe}, {'SADD', probe, 'e'}, {'SSCAN', probe, 0}, {'SREM', probe, 'e'}, {'UNLINK', probe},
  {'ZADD', probe, 1, 'e'}, {'ZSCAN', probe, 0}, {'ZSCORE', probe, 'e'},
  {'UNLINK', probe}, {'RPUSH', probe, 'e'}, {'LPOS', probe, 'e', 'RANK', -1, 'MAXLEN', 1}, {'UNLINK', probe}}

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

local text = refusal(producer)
if text == '' and ARGV[2] ~= 'producer' then text = refusal(worker) end
if text == '' and ARGV[2] == 'operator' then text = refusal(operator) end
return text
