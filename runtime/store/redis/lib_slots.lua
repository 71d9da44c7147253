-- store/redis/lib_slots.lua - the limits of runs: which of their gates have room, and who stands there.
--
-- A limit is what `limits` says of its name: 'KIND|COUNT|PER|BURST|', as the newest run told, and
-- 'COUNT|PER|BURST' as somebody has set it, zeroes when nobody has. KIND is C, R, F or N: what a run needs, the
-- last of its gates, behind which it is parked for as long as the others have a place for it; there it stands. A gate is the counter of
-- a limit's key; its name is 'NAME=KEY', and a run's record has the names of its gates, joined by ';'. Of a gate
-- `slots` has, all of score 0, so that they stand as texts do:
--   'A' gate NUL id         a run at work
--   'W' gate NUL place id   one that waits in the ready order; place: 15 digits, in the order of claims
--   'P' gate NUL rank place id   one that is parked behind it (parked_rank() below)
--   'H' gate NUL id         of a fair share: a run of its key that is parked behind another gate
--   'T' gate NUL turn NUL instant   where runs are parked that take turns: whose turn was the last one, and where that run
--                           came to stand in the ready order
--   'K' gate                there is any of these, or the bucket is not full
-- Slots and tokens are those of the gate, whatever its runs need; places in the ready order, and who is parked for one,
-- are counted apart for runs that need different things: in a part of the gate, of which the name has \1 and the needs
-- behind it. So runs that nobody can serve keep no place, and no turn, from others. All but 'A' are of the part then, and
--   'N' part                there is any of these
-- `limited` has each waiting run that has limits, with its score in the order of claims, that of `urgent`.
-- `buckets` has the gates of rates, with the instant in us at which they are full (core/run_limit.c).
-- `refills` tells when a step has to look at a gate behind which runs are parked; NAME and NUL, or NUL: at all gates
-- of a limit that has changed, since 0, or of all, which may take several steps: what has been looked at stands in `limits` under the
-- same.
--
--   gate_open(name)          the gate, or part of one, read once
--   gates_named(text)        those of a run, as its record names them
--   gate_has_room(g)         whether a claim may pass it
--   gate_lets_in(g, priority, score, is_passed)   whether a run may stand in the ready order: while so few stand before it
--                            that it could be granted
--   gates_work(list, id, by) a run at work comes to the gates (1), or leaves them (-1)
--   gates_stand(list, id, score, by)   the same of one in the ready order, or parked behind what it needs
--   gates_park(list, at, id, score, is_there)   the same of one that is parked behind list[at], be it what it needs
--   gate_take(g)             takes a token
--   limited_put(id, score)   false for a run that does not wait any more
--   slots_open()             writes what comes, before the records
--   slots_close()            takes out what leaves, behind them, and sees to `refills`
--
-- Behind a gate the shares take turns, each by the key of the first share that a run has. So those of one priority
-- are of one age there, but for what came back to the front, and for runs without a share (turn_score() below).
-- Behind what they need nobody takes turns: who is there has had his, and goes by his place.
--
-- A gate: name, limit, active, standing, held (H), first (the score of the first parked run, nil: none; of
-- those that this script has put there: `first_new`), tat, turned (T, once it was looked at). `whole` is the gate itself of
-- a part, which alone has active and tat; of others it is the same.

local PLACE_BASE = 281474976710656
local LEVEL = 17592186044416 -- between the scores of two priorities
local PART, PART_END = '\1', '\2'
local NO_TURN = '\255' -- that of runs without a share: no key has this byte, and it stands behind all that have

local gates, gate_lists, gates_touched, limits_known = {}, {}, {}, {}
local slot_marks, limited_marks, bucket_puts, refill_drops = {}, {}, {}, {}
-- The soonest look that was asked for in this script.
local look_soonest = nil
local gates_ms = nil
-- Only a step cuts buckets.
local is_cutting = false
-- What meta says in `limits`: the newest instant at which something of limits was changed; nil: there is nothing.
local limits_noted = nil
local gmatch = string.gmatch

local function gates_now()
  gates_ms = gates_ms or clock()
  return gates_ms
end

-- Who can be read of what begins so and goes on with a character like the last one.
local function slots_count(first, last)
  return call('ZLEXCOUNT', slots, '[' .. first, '(' .. last)
end

-- To make a number's text is slow, and those that become ready together have one place.
local place_texts = {}
local function place_text(score)
  local text = place_texts[score]
  if not text then
    text = string.format('%015.0f', score + PLACE_BASE)
    place_texts[score] = text
  end
  return text
end

local function score_priority(score)
  return math.floor((LEVEL / 2 - score) / LEVEL)
end

-- Whether what has this score came back to the front.
local function score_is_front(score)
  return score < -score_priority(score) * LEVEL
end

-- What a run stands behind a gate with: those of a share that take turns have the order 0, at which nothing came.
local function turn_score(score, turn)
  if turn == NO_TURN or score_is_front(score) then return score end
  return -score_priority(score) * LEVEL
end

-- Where a run stands among those that are parked: by priority, the front before all others, by turn, NUL.
local function parked_rank(score, turn)
  local front = score_is_front(score)
  return 9 - score_priority(score) .. (front and '0' or '1') .. (front and '' or turn) .. '\0'
end

-- What stands before all ranks of the gate, and behind them.
local function parked_bounds(name)
  return '[P' .. name .. '\0', '(P' .. name .. '\1'
end

-- The turn and the score of an entry of the gate.
local function parked_parse(name, member)
  return string.sub(member, #name + 5, -33), tonumber(string.sub(member, -31, -17)) - PLACE_BASE
end

-- The score of the first run that is parked behind the gate, but for those that are about to leave; nil for none.
local function gate_first(name)
  local from, last = parked_bounds(name)
  local most = 1
  while true do
    local members = call('ZRANGEBYLEX', slots, from, last, 'LIMIT', 0, most)
    for _, member in ipairs(members) do
      local turn, score = parked_parse(name, member)
      if slot_marks[member] ~= false then return turn_score(score, turn) end
    end
    if #members < most then return nil end
    from, most = '(' .. members[#members], 16
  end
end

-- What is in force of a limit, nil when it cannot be read.
local function limit_read(text)
  local kind, count, per, burst, set_count, set_per, set_burst =
    string.match(text or '', '^([CRFN])|(%d+)|(%d+)|(%d+)|(%d+)|(%d+)|(%d+)$')
  if not kind then return nil end
  local l = {kind = kind, told = kind .. '|' .. count .. '|' .. per .. '|' .. burst,
    set = set_count .. '|' .. set_per .. '|' .. set_burst}
  if set_count ~= '0' then count, per, burst = set_count, set_per, set_burst end
  l.count, l.burst = tonumber(count), tonumber(burst)
  if (kind == 'C' or kind == 'R') and l.count == 0 or kind == 'R' and (tonumber(per) == 0 or l.burst == 0) then return nil end
  if kind == 'R' then l.token_us = math.ceil(per * 1000 / l.count) end
  return l
end

-- Of the limit `name`; `kind` is nil when nothing is known of it.
local function limit_of(name)
  local l = limits_known[name]
  if not l then
    l = limit_read(call('HGET', limits, name)) or {kind = string.sub(name, 1, 6) == 'needs ' and 'N' or nil}
    limits_known[name] = l
  end
  return l
end

local function gate_touch(g)
  if g.is_touched then return end
  g.is_touched = true
  gates_touched[#gates_touched + 1] = g
  gate_touch(g.whole)
end

-- The entry that says that there is something of it.
local function gate_mark(g)
  return (g.whole == g and 'K' or 'N') .. g.name
end

-- Whether any gate of the queue has parts.
local parts_known = nil
local function parts_are_there()
  if parts_known == nil then parts_known = #call('ZRANGEBYLEX', slots, '[N', '(O', 'LIMIT', 0, 1) > 0 end
  return parts_known
end

-- The names of a gate's parts, as far as a step looks.
local function parts_of(name)
  local list = {}
  if not parts_are_there() then return list end
  local head = 'N' .. name
  for _, member in ipairs(call('ZRANGEBYLEX', slots, '[' .. head .. PART, '(' .. head .. PART_END, 'LIMIT', 0, NEEDS_LOOK_MAX)) do
    if slot_marks[member] ~= false then list[#list + 1] = string.sub(member, 2) end
  end
  return list
end

-- A bucket that is further from being full than an empty one (the limit was raised, the clock set back) is an empty
-- one from the next step on.
local function bucket_cut(g)
  local most_us = gates_now() * 1000 + g.limit.token_us * g.limit.burst
  if g.tat <= most_us then return end
  g.tat = most_us
  bucket_puts[g.name] = g.tat
  gate_touch(g)
end

-- What the gate itself has.
local function gate_whole(g)
  g.whole = g
  g.active = slots_count(g.at_work, 'A' .. g.name .. '\1')
  g.tat = tonumber(g.limit.kind == 'R' and call('ZSCORE', buckets, g.name) or 0)
  if is_cutting and g.tat > 0 then bucket_cut(g) end
end

local function gate_open(name)
  local g, part_at = gates[name], string.find(name, PART, 1, true)
  if g then return g end
  g = {name = name, limit = limit_of(string.match(name, '^[^=]*')), coming = {}, leaving = {},
    at_work = 'A' .. name .. '\0', in_order = 'W' .. name .. '\0'}
  gates[name] = g
  g.standing = slots_count(g.in_order, 'W' .. name .. '\1')
  g.held = g.limit.kind == 'F' and slots_count('H' .. name .. '\0', 'H' .. name .. '\1') or 0
  g.first = gate_first(name)
  if part_at then
    g.whole, parts_known = gate_open(string.sub(name, 1, part_at - 1)), true
  else
    gate_whole(g)
  end
  return g
end

local function gate_is_named_needs(name)
  return string.sub(name, 1, 6) == 'needs '
end

-- The needs among the limits of a run, nil for none.
local function needs_among(text)
  return string.match(';' .. text, ';needs ([^=;]*)=$')
end

-- Of the gate `name` the one where a run with these needs has its place.
local function part_name(name, needs)
  return needs and not gate_is_named_needs(name) and name .. PART .. needs or name
end

local function gates_named(text)
  local list = gate_lists[text]
  if not list then
    local needs = needs_among(text)
    list = {}
    for name in gmatch(text, '[^;]+') do list[#list + 1] = gate_open(part_name(name, needs)) end
    gate_lists[text] = list
  end
  return list
end

-- The bucket, as core/run_limit.c has it: how far it is from being full.
local function bucket_missing(g)
  local missing = math.max(g.whole.tat - gates_now() * 1000, 0)
  return math.min(missing, g.limit.token_us * g.limit.burst)
end

local function bucket_tokens(g)
  local l = g.limit
  return math.floor((l.token_us * l.burst - bucket_missing(g)) / l.token_us)
end

-- From now until there are so many tokens, at most its burst, in ms.
local function bucket_wait(g, tokens)
  local l = g.limit
  return math.max(math.ceil((bucket_missing(g) - l.token_us * (l.burst - tokens)) / 1000), 0)
end

-- How many more may be granted; of a limit of which nothing is known, any number.
local function gate_room(g)
  local l = g.limit
  if l.kind == 'C' then return l.count - g.whole.active end
  if l.kind == 'R' then return bucket_tokens(g) end
  return math.huge
end

local function gate_has_room(g)
  return gate_room(g) > 0
end

-- The key of a gate, or of the one that it is a part of.
local function gate_key(g)
  return string.match(g.whole.name, '=(.*)$')
end

-- The first share of a run with these gates, nil for none; and its key, which is whose turn the run waits for.
local function gates_share(list)
  for _, g in ipairs(list) do
    if g.limit.kind == 'F' then return g end
  end
end

local function gates_turn(list)
  if not list.turn then
    local g = gates_share(list)
    list.turn = g and gate_key(g) or NO_TURN
  end
  return list.turn
end

-- How many stand in the ready order that are granted before what comes there with this score; before who takes turns
-- that are all of its priority.
local function gate_before(g, score)
  if score % LEVEL == 0 then score = score + LEVEL / 2 - 1 end
  local count = slots_count(g.in_order, g.in_order .. place_text(score + 1))
  for _, other in ipairs(g.coming) do if other <= score then count = count + 1 end end
  for _, other in ipairs(g.leaving) do if other <= score then count = count - 1 end end
  return count
end

-- Whether there is a place for such a run, be others parked or not.
local function gate_has_place(g, priority, score)
  if g.limit.kind == 'N' then return false end
  if g.limit.kind == 'F' then return g.standing < FAIR_QUEUED + priority end
  local room = gate_room(g)
  return room > 0 and (g.standing < room or gate_before(g, score) < room)
end

-- Of a gate that some have left in this script, who is the first now: else two gates would hand runs to each other for
-- ever, each of them behind those that the other one has just let go.
local function gate_first_now(g)
  if g.is_first_old then
    local first, new = gate_first(g.name), g.first_new
    g.first, g.is_first_old = first and math.min(first, new or first) or new, nil
  end
  return g.first
end

-- `is_passed`: the run has been behind this gate.
local function gate_lets_in(g, priority, score, is_passed)
  local first = gate_first_now(g)
  if first and (first < score or first == score and not is_passed) then return false end
  return gate_has_place(g, priority, score)
end

-- Whether the first that is parked may come in.
local function gate_waits(g)
  return g.first ~= nil and gate_has_place(g, score_priority(g.first), g.first)
end

local function gates_work(list, id, by)
  for at = 1, #list do
    local g = list[at].whole
    g.active = g.active + by
    g.is_spread = g.is_spread or by < 0
    slot_marks[g.at_work .. id] = by > 0
    gate_touch(g)
  end
end

local function gate_stand(g, entry, score, by)
  local unwritten = by > 0 and g.coming or g.leaving
  g.standing = g.standing + by
  unwritten[#unwritten + 1] = score
  slot_marks[g.in_order .. entry] = by > 0
  gate_touch(g)
end

-- Somebody comes to be parked there, with this score.
local function first_note(g, score)
  g.first = math.min(g.first or score, score)
  g.first_new = math.min(g.first_new or score, score)
end

local function gate_park(g, id, score, turn, is_there)
  slot_marks['P' .. g.name .. '\0' .. parked_rank(score, turn) .. place_text(score) .. id] = is_there
  score = turn_score(score, turn)
  if is_there then
    first_note(g, score)
  elseif g.first and (score <= g.first or g.limit.kind == 'N') then
    g.is_first_gone, g.is_first_old = true, true
  end
  g.is_rung = g.is_rung or is_there and g.limit.kind == 'N'
  gate_touch(g)
end

local function gates_stand(list, id, score, by)
  local entry = place_text(score) .. id
  for at = 1, #list do
    local g = list[at]
    if g.limit.kind == 'N' then gate_park(g, id, score, NO_TURN, by > 0) else gate_stand(g, entry, score, by) end
  end
end

-- Its shares know of a run wherever it is parked.
local function gates_hold(list, at, id, by)
  for other, g in ipairs(list) do
    if other ~= at and g.limit.kind == 'F' then
      g.held = g.held + by
      slot_marks['H' .. g.name .. '\0' .. id] = by > 0
      gate_touch(g)
    end
  end
end

local function gates_park(list, at, id, score, is_there)
  local g, by = list[at], is_there and 1 or -1
  if g.limit.kind == 'N' then return gates_stand(list, id, score, by) end
  gate_park(g, id, score, gates_turn(list), is_there)
  gates_hold(list, at, id, by)
end

-- The entry of the last turn; nil: nobody has taken one.
local function gate_turned(name)
  return call('ZRANGEBYLEX', slots, '[T' .. name .. '\0', '(T' .. name .. '\1', 'LIMIT', 0, 1)[1]
end

-- What it says: turn and instant, which is nil where there is no entry.
local function turned_of(g)
  if not g.turned then
    local entry = gate_turned(g.name)
    local turn, last = string.match(entry or '', '^.[^%z]*%z([^%z]*)%z(%d+)$')
    g.turned = {entry = entry, turn = turn or '', last = tonumber(last)}
  end
  return g.turned
end

-- A run of this turn and score comes in: its score from now on. It stands behind those that came in before it, as
-- far as it can without being later than now, or an older one of another share would overtake them.
local function turn_take(g, turn, score)
  local turned, base = turned_of(g), -score_priority(score) * LEVEL
  if score < base or turn == NO_TURN and not turned.last then return score end
  local order = score - base
  turned.turn, turned.last = turn, math.max(order, math.min((turned.last or 0) + 1, gates_now()))
  turned.is_new = true
  return base + turned.last
end

local function turn_mark(g)
  local turned = turned_of(g)
  local entry = g.first and turned.last and 'T' .. g.name .. '\0' .. turned.turn .. '\0' .. string.format('%.0f', turned.last)
  if turned.entry and turned.entry ~= entry then slot_marks[turned.entry] = false end
  if entry then slot_marks[entry] = true end
  g.turned = nil
end

local function gate_take(g)
  if g.limit.kind ~= 'R' then return end
  local whole = g.whole
  whole.tat = gates_now() * 1000 + bucket_missing(g) + g.limit.token_us
  bucket_puts[whole.name] = whole.tat
  gate_touch(whole)
end

local function limited_put(id, score)
  limited_marks[id] = score
end

-- Where a waiting run stands in the order of claims.
local function limited_score(id)
  local score = limited_marks[id]
  if score == nil then score = call('ZSCORE', limited, id) end
  return tonumber(score or 0)
end

-- When a step has to look at the gate, nil for never. Of a rate that is when there is a token more than runs
-- stand before the first that is parked; with all its tokens taken by those, only one who leaves makes place.
local function gate_look(g)
  if not g.first or g.limit.kind ~= 'R' then return gate_waits(g) and gates_now() or nil end
  local tokens = gate_before(g, g.first) + 1
  return tokens <= g.limit.burst and gates_now() + bucket_wait(g, tokens) or nil
end

-- All members of `marks` that come, each behind its score, or leave.
local function marks_take(marks, is_coming, score)
  local list, count, texts = {}, 0, {}
  for member, mark in pairs(marks) do
    if (mark ~= false) == is_coming then
      if is_coming then
        local text = score or texts[mark]
        if not text then
          text = string.format('%.0f', mark)
          texts[mark] = text
        end
        count = count + 1
        list[count] = text
      end
      count = count + 1
      list[count] = member
      marks[member] = nil
    end
  end
  return list
end

local function look_put(list, g, at)
  list[#list + 1] = string.format('%.0f', at)
  list[#list + 1] = g.name
  look_soonest = look_soonest and math.min(look_soonest, at) or at
end

-- A slot that came free is there for all parts of its gate.
local function slots_spread()
  for at = 1, #gates_touched do
    local g = gates_touched[at]
    local names = g.is_spread and parts_of(g.name) or {}
    g.is_spread = nil
    for _, name in ipairs(names) do gate_touch(gate_open(name)) end
  end
end

-- A gate that may have to be looked at is said to be so before anything leaves it.
local function slots_open()
  local looks = {}
  slots_spread()
  for _, g in ipairs(gates_touched) do
    slot_marks[gate_mark(g)], g.coming = true, {}
    if g.turned and g.turned.is_new then turn_mark(g) end
    local at = g.first and g.limit.kind ~= 'N' and (g.is_first_gone and gates_now() or gate_look(g))
    if at and at ~= g.look then
      look_put(looks, g, at)
      g.look = at
    end
  end
  -- Not every script has read it; an earlier one would hide that the clock was set back.
  limits_noted = limits_noted or tonumber(call('HGET', meta, 'limits') or nil)
  if not limits_noted or gates_now() > limits_noted then
    limits_noted = gates_now()
    call('HSET', meta, 'limits', limits_noted)
  end
  write('ZADD', refills, looks)
  write('ZADD', slots, marks_take(slot_marks, true, '0'))
  write('ZADD', limited, marks_take(limited_marks, true))
  write('ZADD', buckets, marks_take(bucket_puts, true))
end

-- Nobody is at work there or waits, and nothing is to be remembered.
local function gate_is_void(g)
  if g.standing + g.held > 0 or g.first then return false end
  return g.whole ~= g or g.active <= 0 and g.tat <= gates_now() * 1000 and #parts_of(g.name) == 0
end

-- A token for those that wait for runs that need this, as that of redis/lib_wake.lua; nobody waits for it once the
-- gate is gone.
local function needs_wake(g, is_there)
  local key = wake .. ' ' .. string.match(g.name, '^needs ([^=]*)')
  if not is_there then
    call('UNLINK', key)
  elseif call('LLEN', key) == 0 then
    call('RPUSH', key, '1')
  end
end

local function gate_settle(g, looks)
  g.leaving = {}
  if g.is_first_gone then g.first = gate_first(g.name) end
  if g.is_first_gone and not g.first then turn_mark(g) end
  if g.is_rung and g.first then needs_wake(g, true) end
  g.is_rung = nil
  local at = gate_look(g)
  if at and at ~= g.look then look_put(looks, g, at) end
  if not at and (g.look or g.is_looked_at) then refill_drops[#refill_drops + 1] = g.name end
  if gate_is_void(g) then
    slot_marks[gate_mark(g)] = false
    if g.limit.kind == 'N' then needs_wake(g, false) end
    refill_drops[#refill_drops + 1] = g.name
  end
  g.look, g.is_touched, g.is_first_gone, g.is_looked_at, g.turned = at, nil, nil, nil, nil
  g.is_first_old, g.first_new = nil, nil
end

local function slots_close()
  local looks, touched = {}, gates_touched
  write('ZREM', slots, marks_take(slot_marks, false))
  write('ZREM', limited, marks_take(limited_marks, false))
  gates_touched = {}
  -- The parts first: they may be all that a gate is there for.
  for _, g in ipairs(touched) do if g.whole ~= g then gate_settle(g, looks) end end
  for _, g in ipairs(touched) do if g.whole == g then gate_settle(g, looks) end end
  write('ZADD', refills, looks)
  write('ZREM', refills, refill_drops)
  write('ZREM', slots, marks_take(slot_marks, false))
  refill_drops = {}
end
