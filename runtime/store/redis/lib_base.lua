-- store/redis/lib_base.lua - calls, the clock, and reads and writes in bulk.
--
-- A script can be refused in its middle, when its user loses the right to a command, and what it has
-- written by then stays. ORDER of writes, for all scripts: a live run's new index entry, then its
-- record, then its old entry goes. An entry too many is skipped by whoever meets it; one that
-- is missing would strand the run. Final runs have it the other way round, record first: what
-- stands among them is deleted by age, whatever its record says.
--
-- Redis' `..` prints numbers with 14 digits: every instant here is in ms and below 10^13, so none ever
-- turns into a float's text.

local call = redis.call

-- ARGV[1] is the time to take as now, -1 for the server's own.
local function clock()
  local given = tonumber(ARGV[1])
  if given >= 0 then return given end
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- One variadic command, or several when the arguments would not fit Lua's stack.
local function write(command, key, arguments)
  local count = #arguments
  if count == 0 then return end
  if count <= 1000 then
    call(command, key, unpack(arguments))
    return
  end
  for from = 1, count, 1000 do
    call(command, key, unpack(arguments, from, math.min(from + 999, count)))
  end
end

-- HMGET of any number of fields.
local function read(key, fields)
  local count = #fields
  if count == 0 then return {} end
  if count <= 1000 then return call('HMGET', key, unpack(fields)) end
  local values = {}
  for from = 1, count, 1000 do
    local part = call('HMGET', key, unpack(fields, from, math.min(from + 999, count)))
    for at = 1, #part do values[from + at - 1] = part[at] end
  end
  return values
end
