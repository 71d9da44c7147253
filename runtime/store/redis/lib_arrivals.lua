-- store/redis/lib_arrivals.lua - what grows whenever a run comes into the queue, or becomes another. Each has a number:
-- an ordinary one of the line, any other of `number`.
local function arrivals()
  local sum = 0
  for _, count in ipairs({'number', 'line', 'replaced'}) do
    sum = sum + (tonumber(call('HGET', meta, count) or nil) or 0)
  end
  return sum
end
