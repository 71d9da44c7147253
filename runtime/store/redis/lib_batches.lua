-- store/redis/lib_batches.lua - batches: what they have come to, and whose callbacks come in (store/store.h).
--
-- `batches`: a batch by its id, 16 bytes; behind a letter and its id a callback that waits, c on complete, s on success, d on
-- death, as `follow_ups` takes it, or its place there once it is to come in; behind an 'm' and the id of a run, or of a batch, the ids of those that it is a member of.
-- `batches_until`: the ids of all batches, by the time at which one that is open is closed, or one that has ended is
-- forgotten; behind an 'o' those of the open ones once more, by when they were opened, as far behind BATCH_NEVER. `batches` of `meta` is there as long as there are some.
-- A callback that is to come in goes to `follow_ups`, from where STEPs bring it.

local BATCH_NEVER = 9999999999999 -- when a batch is looked at that is closed and has not ended

local batch_told = false -- a callback is to come in
local batch_find, batch_save, batch_tell, batch_settle, members_read, member_of, member_end, batches_write
do
-- State (O open, C closed, E ended), whether it has expired, counts, how long it is kept, depth; of each kind of callback its
-- digest behind w as long as it waits, then t; the batch that it is in.
local BATCH = '^([OCE])|([01])|(%d+)|(%d+)|(%d+)|(%d+)|(%d+)|(%d+)|([wt]?%x*)|([wt]?%x*)|([wt]?%x*)|(.*)$'
local known, changed, members, leavers = {}, {}, {}, {}

-- nil when it is not there.
function batch_find(id)
  local b = known[id]
  if b ~= nil then return b or nil end
  local state, expired, added, done_, dead_, cancelled_, keep, depth, c, s, d, parent = string.match(call('HGET', batches, id) or '', BATCH)
  b = state and {id = id, state = state, expired = expired, added = tonumber(added), done = tonumber(done_), dead = tonumber(dead_),
    cancelled = tonumber(cancelled_), keep = keep, depth = depth, c = c, s = s, d = d, parent = parent} or false
  known[id] = b
  return b or nil
end

function batch_save(b)
  known[b.id], changed[b.id] = b, b
end

-- The callback of one kind comes in, if there is one that waits.
function batch_tell(b, kind)
  if string.sub(b[kind], 1, 1) ~= 'w' then return end
  local text = call('HGET', batches, kind .. b.id)
  b[kind] = 't' .. string.sub(b[kind], 2)
  if not text then return end
  local place = call('HINCRBY', meta, 'follow_ups', 1)
  -- Each entry of `follow_ups` has an id of its own in front.
  call('ZADD', follow_ups, place, string.sub(b.id, 1, 15) .. kind .. text)
  call('HSET', batches, kind .. b.id, place)
  call('HDEL', meta, 'calm')
  batch_told = true
end

local function is_success(b)
  return b.done == b.added and b.expired == '0'
end

-- It may have ended by what was changed of it, and then what it is in.
function batch_settle(b, now)
  batch_save(b)
  if b.state ~= 'C' or b.added > b.done + b.dead + b.cancelled then return end
  b.state = 'E'
  call('ZADD', batches_until, now + b.keep, b.id)
  batch_tell(b, 'c')
  if is_success(b) then batch_tell(b, 's') end
  if b.parent ~= '' then member_end(b.id, is_success(b) and 'done' or b.dead > 0 and 'dead' or 'cancelled', now) end
end

-- Those of `ids`, in one go.
function members_read(ids)
  local fields = {}
  for at = 1, #ids do fields[at] = 'm' .. ids[at] end
  local texts = read(batches, fields)
  for at = 1, #ids do members[ids[at]] = texts[at] or false end
end

-- The ids of the batches that it is a member of, one behind the other.
function member_of(id)
  local text = members[id]
  if text == nil then
    text = call('HGET', batches, 'm' .. id)
    members[id] = text
  end
  return text
end

-- One of the batches of a member that has ended.
local function membership_end(id, how, now)
  local b = batch_find(id)
  if not b or b.state == 'E' then return end
  b[how] = b[how] + 1
  if how == 'dead' then batch_tell(b, 'd') end
  batch_settle(b, now)
end

-- A run, or a batch, that may be a member has ended: `how` is the name of its count.
function member_end(id, how, now)
  local text = member_of(id)
  if not text then return end
  members[id] = false
  leavers[#leavers + 1] = 'm' .. id
  for at = 1, #text, 16 do membership_end(string.sub(text, at, at + 15), how, now) end
end

local function batch_text(b)
  local function number(n) return string.format('%.0f', n) end
  return table.concat({b.state, b.expired, number(b.added), number(b.done), number(b.dead), number(b.cancelled), b.keep, b.depth, b.c, b.s,
    b.d, b.parent}, '|')
end

-- Who has ended is no member any more before that is counted, so that none is counted twice.
function batches_write()
  local puts = {}
  for at = 1, #leavers do puts[at * 2 - 1], puts[at * 2] = leavers[at], '' end
  for id, b in pairs(changed) do
    puts[#puts + 1], puts[#puts + 2] = id, batch_text(b)
  end
  write('HSET', batches, puts)
  write('HDEL', batches, leavers)
  changed, leavers = {}, {}
end
end
