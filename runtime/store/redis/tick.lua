-- store/redis/tick.lua - enqueues the run of a schedule whose time has come.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active unique unique_until meta wake keys keys_until producers producers_until bodies schedules limits limited slots buckets refills events
-- uses: base events layout wake limit memory intake producers unique slots enqueue schedules periodic
-- rare: slots
-- level: produces
--
-- Enqueues the run from ARGV[11] on when tick ARGV[7] (0: now) of schedule ARGV[6] is due: when it is ARGV[8] ms
-- or more after the schedule's mark. ARGV[9]: 'c' by the calendar, then it is due after the mark and not ahead of now; 'o' it may overlap
-- with the newest run. ARGV[10]: the template. Without a run a schedule that has no mark gets one. Before that as for
-- ENQUEUE, without a ticket. Reply: now, is_enqueued, mark.

local name, template = ARGV[6], ARGV[10]
local tick, interval = tonumber(ARGV[7]), tonumber(ARGV[8])
local is_of_calendar, may_overlap = string.find(ARGV[9], 'c', 1, true), string.find(ARGV[9], 'o', 1, true)
local has_run, is_to_come = ARGV[11] ~= nil, tick > now
local before = call('HGET', schedules, name)
local s = schedule_parse(before)

-- The instant for which a due tick counts, nil when it is not due.
local function due_at()
  local at = (tick == 0 or is_to_come) and now or tick
  if is_of_calendar and is_to_come then return nil end
  if not s then return at end
  if s.mark > now + interval then return is_of_calendar and at or now end -- it was made by a clock that was ahead
  return at >= s.mark + (is_of_calendar and 1 or interval) and at or nil
end

local at, is_enqueued, is_taken = due_at(), 0, false
if at and not has_run then
  is_taken = not s
elseif at and s and (schedule_has(s, 'p') or not may_overlap and newest_is_live(s)) then
  is_taken = true
end
if is_taken and not s or at and has_run and not s then
  s = {mark = 0, next = 0, asked = '0', words = '', newest = NO_RUN, brought = NO_RUN, template = ''}
end
if at and has_run and not is_taken then
  if not periodic_enqueue(name, 11, s, before) then return {now, 0, s.mark} end
  is_taken, is_enqueued = true, 1
end
if not s then return {now, 0, 0} end
if is_taken then s.mark = at end
if has_run then
  if is_of_calendar and is_to_come then
    s.next = tick
  elseif is_taken or not is_of_calendar then
    s.next = s.mark + interval
  end
  s.words = ARGV[9] .. (schedule_has(s, 'p') and 'p' or '')
  if template ~= '' then s.template = template end
elseif is_taken then
  s.words = is_of_calendar and 'c' or ''
end
local text = schedule_text(s)
if text ~= before then
  layout_write()
  call('HSET', schedules, name, text)
end
return {now, is_enqueued, s.mark}
