-- store/redis/lib_told.lua - what a reader is told of a record.
--
-- A scheduled run whose time has come waits for nothing but a worker: it is told as waiting, before
-- a step has moved it. Its record and place stay as they are.

local DUE = '^(%d+|)' .. SCHEDULED .. '(|%d+|[^|]*|)(%d+)(|.*)$'

local function record_told(text, now)
  local version, holder, at, rest = string.match(text, DUE)
  if not at or tonumber(at) > now then return text end
  return version .. WAITING .. holder .. at .. rest
end
