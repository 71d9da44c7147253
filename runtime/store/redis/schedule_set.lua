-- store/redis/schedule_set.lua - pauses, resumes and forgets a schedule.
-- keys: meta schedules
-- uses: base layout schedules
-- level: works
--
-- ARGV[2]: 'p' pauses, 'r' resumes, 'f' forgets schedule ARGV[3]. Reply: 1; 0 when there is no such schedule.

local refusal = layout_check()
if refusal then return refusal end
local s = schedule_parse(call('HGET', schedules, ARGV[3]))
if not s then return 0 end
if ARGV[2] == 'f' then
  call('HDEL', schedules, ARGV[3])
  return 1
end
local was_paused = schedule_has(s, 'p')
local is_paused = ARGV[2] == 'p'
if was_paused == is_paused then return 1 end
s.words = string.gsub(s.words, 'p', '') .. (is_paused and 'p' or '')
local now = clock()
if not is_paused and schedule_has(s, 'c') and s.mark < now then s.mark = now end
call('HSET', schedules, ARGV[3], schedule_text(s))
return 1
