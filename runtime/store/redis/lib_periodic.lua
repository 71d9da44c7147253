-- store/redis/lib_periodic.lua - the run of a schedule: whether its newest lives, and a new one.

local function newest_is_live(s)
  local text = call('HGET', runs, s.newest)
  local r = text and record_parse(text)
  return r ~= nil and r and not IS_FINAL[r.state]
end

-- Enqueues the run from ARGV[from] on and keeps the schedule with it. Its id; nil when it was refused.
-- The schedule is written before too, as it is: a right to do so that was withdrawn stops both.
local function periodic_enqueue(name, from, s, before)
  call('HSET', schedules, name, before or '')
  enqueue(from, true)
  if #ids > 0 then s.newest = ids[1] end
  return ids[1]
end
