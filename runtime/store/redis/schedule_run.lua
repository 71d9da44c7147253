-- store/redis/schedule_run.lua - enqueues the run of a schedule out of turn.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active unique unique_until meta wake keys keys_until producers producers_until bodies schedules limits limited slots buckets refills events
-- uses: base events layout wake limit memory intake producers unique slots enqueue schedules periodic
-- rare: slots
-- level: produces
--
-- Of schedule ARGV[6], of the asking ARGV[7]: the run from ARGV[8] on. Before that as for ENQUEUE, without a ticket.
-- Reply: 'N' and its id, 'U' and the id of the run that is in its way; '?' when there is no such schedule.

local before = call('HGET', schedules, ARGV[6])
local s = schedule_parse(before)
if not s then return {'?'} end
if s.asked == ARGV[7] then return {'N', s.brought} end
if not schedule_has(s, 'o') and newest_is_live(s) then return {'U', s.newest} end
local id = periodic_enqueue(ARGV[6], 8, s, before)
if not id then return {'U', others[1]} end
s.asked, s.brought = ARGV[7], id
call('HSET', schedules, ARGV[6], schedule_text(s))
return {'N', id}
