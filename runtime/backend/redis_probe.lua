-- keys: probe
-- uses: base
--
-- Tries every command that the scripts need on a key of its own, because a command that is
-- denied midway leaves a script half done. ARGV[2]: 'worker' or 'producer'.
-- Reply: '' or the server's refusal.

local producer = {{'UNLINK'}, {'HSET', 'f', '1'}, {'HMGET', 'f'}, {'HGET', 'f'}, {'HEXISTS', 'f'}, {'HINCRBY', 'f', 1},
  {'UNLINK'}, {'RPUSH', 'e'}, {'LLEN'}, {'UNLINK'}, {'ZADD', 1, 'e'}, {'ZCARD'}, {'UNLINK'},
  {'SMISMEMBER', 'e'}}
local worker = {{'HSET', 'f', '1'}, {'HLEN'}, {'HDEL', 'f'}, {'UNLINK'}, {'LPUSH', 'e'}, {'LRANGE', 0, 0},
  {'LPOP', 1}, {'UNLINK'}, {'ZADD', 1, 'e'}, {'ZRANGE', 0, 0}, {'ZRANGEBYSCORE', 0, 0}, {'ZREM', 'e'},
  {'ZREMRANGEBYRANK', 0, 0}, {'UNLINK'}, {'SADD', 'e'}, {'UNLINK'}}

local function refusal(commands)
  for _, arguments in ipairs(commands) do
    local reply = redis.pcall(arguments[1], probe, unpack(arguments, 2))
    if type(reply) == 'table' and reply.err then
      redis.pcall('UNLINK', probe)
      return arguments[1] .. ': ' .. reply.err
    end
  end
  return ''
end

local text = refusal(producer)
if text == '' and ARGV[2] == 'worker' then text = refusal(worker) end
return text
