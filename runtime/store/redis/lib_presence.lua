-- store/redis/lib_presence.lua - entries of the registry of workers.
--
-- `presence` holds them by the worker's id, as TOLD|HEARD|CONCURRENCY|NUMBER|QUIET|STOP|WISH|SHEET: when it
-- was told, the number of the wish that was taken up, the most runs at a time; number and members of
-- the wish; and the sheet, bytes. `presence_told` has the ids by TOLD.

local GONE, STILL = 30000, 10000 -- CULEX_WORKER_GONE_MS, CULEX_WORKER_STILL_MS

-- nil for what is none.
local function presence_parse(text)
  local told, heard, most, number, quiet, stop, wish, at =
    string.match(text or '', '^(%d+)|(%d+)|(%d+)|(%d+)|(%d)|(%d)|(%d+)|()')
  if not told then return nil end
  return {told = tonumber(told), heard = tonumber(heard), most = tonumber(most), number = tonumber(number),
    quiet = quiet, stop = stop, wish = tonumber(wish), sheet = string.sub(text, at)}
end

local function presence_text(p)
  return table.concat({p.told, p.heard, p.most, p.number, p.quiet, p.stop, p.wish, p.sheet}, '|')
end

local function presence_is_gone(p, now)
  return p.told < now - GONE or p.told > now + GONE
end
