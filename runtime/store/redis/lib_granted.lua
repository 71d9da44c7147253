-- store/redis/lib_granted.lua - what a STEP has granted, and what it knows of the queue meanwhile.

-- Held: a run that only a free handler may get ended the claim. Passed: suspects that stayed, for they
-- want no company. has_room: the server is not short of memory, so that log lines may be kept; lines_left: some were not.
-- `list`: of runs with a record, as the reply has them; `memo`: as `sessions` does.
local granted = {count = 0, passed = 0, expired = 0, is_held = false, is_replaced = false, is_late = false, has_room = true, lines_left = false, list = {}, memo = {}}
-- The line: numbers as meta has them, once facts are read. `waiting`: how many of the `bodies` are neither
-- held nor kept; `looked`: the numbers behind `taken` that this claim has dealt with; is_cut: it has given
-- up, or more wait than was counted. has_follow_ups: some are kept, to be brought.
local counted = {last = 0, held = 0, kept = 0, bodies = 0, waiting = 0, looked = 0, is_cut = false, has_follow_ups = false}
-- What is taken off it: chars from `first` on, what their bodies agree on, and their bodies in order.
local take = {first = false, since = false, chars = {}, bodies = {}, keep = false, timeout = false, long = '0', count = 0}
local ghosts -- as meta counts them
-- The longest lease that was given in this queue; nil when none was.
local longest
