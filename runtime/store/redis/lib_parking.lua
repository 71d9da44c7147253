-- store/redis/lib_parking.lua - runs with limits (redis/lib_slots.lua): where they stand, and who comes in.
--
-- What redis/lib_plan.lua asks of it, for a run whose `behind` is not 0:
--   place_enter(id, r, score)   it becomes ready: into the ready order, or behind the first gate that has no
--                               place for it; sets r.behind, which the caller writes
--   place_settle(id, score)     and gets its entry; the score may be known later
--   place_leave(id, r)          it leaves the state it has: work, the ready order, a gate
-- and of a claim:
--   place_hold(id, r)           whether it is parked, behind the first gate that has no room
--   place_lacks(list)           the first of its gates that has no room, nil when all have
--   place_grant(id, list)       it goes to work
--   place_calls()               whether somebody may come in who is to be claimed yet
--   place_admit()               what a step has to do at gates that are due

local ADMIT_PAGE = 16
local admits_left, parks_left = ADMIT_MAX, PARK_MAX

function places_open() slots_open() end
function places_close() slots_close() end

local function gates_of(r)
  r.gates = r.gates or gates_named(string.match(r.tail, TAIL_limits))
  return r.gates
end

-- Through which of its gates a run comes first: those of its share alone, those by other keys, those of all.
local function gate_stage(g, turn)
  local key = gate_key(g)
  return key == '' and 2 or key == turn and 0 or 1
end

-- Whether a run that comes from the gate `from` has been behind list[at] before. There it waits for nobody's turn again:
-- two gates would send those that are parked behind them to each other for ever.
local function gate_is_passed(list, at, from, turn)
  if not from or turn == NO_TURN then return false end
  local stage, last = gate_stage(list[at], turn), gate_stage(from, turn)
  if stage ~= last then return stage < last end
  for before = at + 1, #list do if list[before] == from then return true end end
  return false
end

-- The first gate that does not let it into the ready order; `from` is one of which it comes. nil: they all do.
local function place_behind(r, score, from)
  local priority, list = priority_of(r), gates_of(r)
  local turn = gates_turn(list)
  score = turn_score(score, turn)
  for at, g in ipairs(list) do
    if g == from and not gate_has_place(g, priority, score)
      or g ~= from and not gate_lets_in(g, priority, score, gate_is_passed(list, at, from, turn)) then
      return at
    end
  end
end

-- Where each of these gets its entry: at so many gates, behind one of them (`at`) or in the ready order.
local places = {}

function place_enter(id, r, score, from)
  is_limited = true
  local at = place_behind(r, score, from)
  local list = gates_of(r)
  places[id] = {at = at, list = list}
  r.behind = at and at + 1 or 1
  -- Those that come behind it in this script must see it there.
  score = turn_score(score, gates_turn(list))
  if at then first_note(list[at], score) end
end

-- Whether it is parked.
function place_settle(id, score)
  local place = places[id]
  if not place then return false end
  places[id] = nil
  limited_put(id, score)
  if place.at then gates_park(place.list, place.at, id, score, true) else gates_stand(place.list, id, score, 1) end
  return place.at ~= nil
end

function place_leave(id, r)
  is_limited = true
  local list, at = gates_of(r), r.behind - 1
  if r.state == ACTIVE then
    gates_work(list, id, -1)
  elseif r.state == WAITING then
    local score = limited_score(id)
    if list[at] then gates_park(list, at, id, score, false) else gates_stand(list, id, score, -1) end
    limited_put(id, false)
  end
end

-- The first gate that a claim does not get by.
local function place_lacks(list)
  for at = 1, #list do
    if not gate_has_room(list[at]) then return at end
  end
end

local function place_park(id, r, list, at)
  local score = limited_score(id)
  gates_stand(list, id, score, -1)
  r.behind = at + 1
  limited_put(id, score)
  gates_park(list, at, id, score, true)
  plan_put('record_puts', id, record_text(r))
  parks_left = parks_left - 1
end

-- Places are free now at gates where it stood: whoever waits for them may come before all that follows.
local function places_call(list)
  for _, g in ipairs(list) do
    if gate_waits(g) then return true end
  end
  return false
end

-- Whether one of its gates has no room: then it is parked. And whether the claim has to begin anew.
local function place_hold(id, r)
  local list = gates_of(r)
  local at = place_lacks(list)
  if not at then return false, false end
  is_limited = true
  place_park(id, r, list, at)
  return true, places_call(list)
end

-- It is granted: what it takes is written with the grants. Whether the claim has to begin anew, as above: of a
-- fair share the next comes in, and not behind all others when it has a priority.
local function place_grant(id, list)
  is_limited = true
  local is_call = false
  gates_stand(list, id, limited_score(id), -1)
  gates_work(list, id, 1)
  limited_put(id, false)
  for at = 1, #list do
    local g = list[at]
    gate_take(g)
    is_call = is_call or g.limit.kind == 'F' and g.first and score_priority(g.first) > 0 and gate_waits(g)
  end
  return is_call
end

-- Somebody whom a claim has not met may be let in by what it did.
local function place_calls()
  for _, g in ipairs(gates_touched) do
    if gate_waits(g) then return true end
  end
  return false
end

-- Whether a run with these gates, once it was parked, comes in behind all that stand: it has a share, and a limit by some
-- key. Such a gate knows of its own runs alone, and would let one share's in again and again by an age that is above all
-- that others have.
local function gates_come_last(list)
  local has_key = false
  for _, g in ipairs(list) do has_key = has_key or g.limit.kind ~= 'F' and gate_key(g) ~= '' end
  return has_key and gates_share(list) ~= nil
end

-- Whether it has its place by now: in the ready order, or behind what it needs.
local function place_stands(id)
  local place = places[id]
  return not place.at or place.list[place.at].limit.kind == 'N'
end

-- The back of the ready order: the list, and of a priority an instant after the last that was given. By a clock that was
-- set back it is no sooner than where the run has stood, or a listing under way might miss it.
local function back_score(priority, age)
  local least = math.max(gates_now(), age + priority * LEVEL)
  if priority == 0 then return least end
  local back = math.max(tonumber(call('HGET', meta, 'back') or 0) + 1, least)
  call('HSET', meta, 'back', back)
  return back - priority * 17592186044416
end

-- Whether it comes to the list. What has been there, or has a unique key, does not.
local function back_put(id, r, score)
  if priority_of(r) > 0 or not is_listed(r) or string.match(r.tail, TAIL_unique_key) ~= '' then return false end
  if not place_settle(id, score) then
    plan_add('backs', id .. string.format('%.0f@%.0f', counted.last, gates_now()))
  end
  return true
end

-- Goes through those that are parked behind the gate, in the order in which they may come in: each call gives some, of
-- one priority and one turn, and tells whose it was then. The next turn is that of the share behind the last one, by the
-- bytes of its key, and brings one run; but more of those at the front, of those without a share, and of those that are
-- alone by the gate's own key.
local function parked_walk(g, turn)
  local key, first, last = gate_key(g), parked_bounds(g.name)
  local group, is_front, seen, seen_count, idle
  local function read_some(from, behind, most)
    return call('ZRANGEBYLEX', slots, from, behind, 'LIMIT', 0, most)
  end
  -- Of one priority, the front or the others.
  local function group_next()
    local member = read_some(group and '(' .. group .. '\255\255' or first, last, 1)[1]
    group, seen, seen_count, idle = member and string.sub(member, 1, #g.name + 4), {}, 0, 0
    is_front = group and string.sub(group, -1) == '0'
  end
  local function turn_next()
    local behind = '(' .. group .. '\255\255'
    local member = read_some('(' .. group .. turn .. '\1', behind, 1)[1] or read_some('[' .. group, behind, 1)[1]
    return (parked_parse(g.name, member))
  end
  group_next()
  return function()
    while group do
      local now_turn = turn_next()
      local from = seen[now_turn] and '(' .. seen[now_turn] or '[' .. group .. now_turn .. '\0'
      local most = (is_front or now_turn == NO_TURN or now_turn == key) and ADMIT_PAGE or 1
      local members = read_some(from, '(' .. group .. now_turn .. '\1', most)
      if not is_front then turn = now_turn end
      if #members > 0 then
        if not seen[now_turn] then seen_count = seen_count + 1 end
        seen[now_turn], idle = members[#members], 0
        return members, turn
      end
      idle = idle + 1
      if idle >= seen_count then group_next() end
    end
  end
end

-- One that is parked there, by its entry, comes in; false when there is no place.
local function parked_admit(g, member, text, turn)
  local id = string.sub(member, -16)
  -- One that this call has let in already, for another reason to look, leaves with what it writes.
  local r = slot_marks[member] ~= false and text and record_parse(text)
  local is_here = r and r.state == WAITING and gates_of(r)[tonumber(r.behind) - 1] == g
  local _, score = parked_parse(g.name, member)
  if is_here and not gate_has_place(g, priority_of(r), turn_score(score, turn)) then return false end
  slot_marks[member], g.is_first_gone, g.is_first_old = false, true, true
  admits_left = admits_left - 1
  if not is_here then return true end
  gates_hold(gates_of(r), r.behind - 1, id, -1)
  local age, is_last = score, g.limit.kind == 'F'
  -- Behind the share itself all are of one turn.
  if g ~= gates_share(gates_of(r)) then score = turn_take(g, turn, score) end
  if g.limit.kind == 'F' then score = back_score(priority_of(r), age) end
  place_enter(id, r, score, g)
  -- Behind another limit it keeps its age, or younger ones of its share would go before it there.
  if not is_last and not score_is_front(age) and gates_come_last(gates_of(r)) then
    is_last = place_stands(id)
    score = is_last and back_score(priority_of(r), age) or age
  end
  if not (is_last and back_put(id, r, score)) then ready_at(id, score) end
  plan_put('record_puts', id, record_text(r))
  return true
end

-- Those behind the gate, in their order, as long as it has places. What is left is for the next step.
local function gate_admit(g)
  g.is_looked_at = true
  gate_touch(g)
  if not g.first then return end
  local walk = parked_walk(g, turned_of(g).turn)
  while admits_left > 0 do
    local members, turn = walk()
    if not members then return end
    local ids = {}
    for at, member in ipairs(members) do ids[at] = string.sub(member, -16) end
    local texts = read(runs, ids)
    for at, member in ipairs(members) do
      if admits_left <= 0 or not parked_admit(g, member, texts[at], turn) then return end
    end
  end
end

-- Of a limit that has changed, or of all when it has no name: its gates, some at a time.
local function limit_sweep(entry)
  local name = string.sub(entry, 1, -2)
  local last = call('HGET', limits, entry)
  local first, behind = '[K' .. name .. '=', '(K' .. name .. '>'
  if name == '' then first, behind = '[K', '(L' end
  local members = call('ZRANGEBYLEX', slots, last and '(K' .. last or first, behind, 'LIMIT', 0, REFILL_KEYS_MAX)
  for _, member in ipairs(members) do
    local gate = string.sub(member, 2)
    gate_admit(gate_open(gate))
    for _, part in ipairs(parts_of(gate)) do gate_admit(gate_open(part)) end
  end
  if #members == REFILL_KEYS_MAX then
    call('HSET', limits, entry, string.sub(members[#members], 2))
  else
    call('HDEL', limits, entry)
    refill_drops[#refill_drops + 1] = entry
  end
end

-- Of gates that are due: those that have a key, or those of all runs.
local function gates_admit(names, are_of_all)
  for _, name in ipairs(names) do
    local g = gate_open(name)
    if (gate_key(g) == '') == are_of_all then gate_admit(g) end
  end
end

-- Who comes from a gate of his own may have to wait behind one of all runs, where younger ones of his share are: those
-- gates come first, and leave half of what may be admitted.
local function place_admit()
  is_limited = true
  local names = call('ZRANGEBYSCORE', refills, '-inf', string.format('%.0f', gates_now()), 'LIMIT', 0, REFILL_KEYS_MAX)
  local due, rest = {}, math.floor(admits_left / 2)
  for _, name in ipairs(names) do
    if string.sub(name, -1) == '\0' then limit_sweep(name) else due[#due + 1] = name end
  end
  admits_left = admits_left - rest
  local left = admits_left
  gates_admit(due, false)
  -- Those of all are to find what was parked there just now.
  if admits_left < left then
    plan_write()
    is_limited = true
  end
  admits_left = admits_left + rest
  gates_admit(due, true)
  plan_write()
end

-- Buckets that are full by now; gates of nothing else are forgotten with them. When the next one is.
local function buckets_forget(most)
  local names = call('ZRANGEBYSCORE', buckets, '-inf', string.format('%.0f', gates_now() * 1000), 'LIMIT', 0, most)
  for _, name in ipairs(names) do gate_touch(gate_open(name)) end
  is_limited = true
  plan_write()
  write('ZREM', buckets, names)
  return head(buckets)
end

-- The clock was set back: each gate is looked at.
local function limits_look()
  limits_noted = gates_now()
  call('HSET', meta, 'limits', limits_noted)
  call('HDEL', limits, '\0')
  call('ZADD', refills, limits_noted, '\0')
end

-- Nothing of limits is left in the queue.
local function limits_forget()
  if call('ZCARD', slots) + call('ZCARD', refills) + call('ZCARD', buckets) > 0 then return end
  call('HDEL', meta, 'limits')
  limits_noted = nil
end
