-- store/redis/lib_periodic.lua - the run of a schedule: whether its newest lives, and a new one.

local function newest_is_live(s)
  local text = call('HGET', runs, s.newest)
  local r = text and record_parse(text)
  return r ~= nil and r and not IS_FINAL[r.state]
end

-- Enqueues the run from ARGV[from] on and keeps the schedule with it. Its id, be it a new one or the one that it
-- replaces; nil when it was refused.
-- The schedule is written before too, as it is: a right to do so that was withdrawn stops both. A refused run leaves
-- nothing of a new one.
local function periodic_enqueue(name, from, s, before)
  call('HSET', schedules, name, before or '')
  local id = enqueue(from, true) == 'R' and others[1] or ids[1]
  if id then s.newest = id elseif not before then call('HDEL', schedules, name) end
  return id
end
