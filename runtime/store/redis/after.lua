-- store/redis/after.lua - makes a batch of one run that is there, closed, and gives it a callback.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active done cancelled dead errors results unique unique_until meta wake sessions bodies blocks spans block_leases block_ends limits limited slots buckets refills follow_ups batches batches_until
-- uses: base layout unique plan slots parking bodies blocks adopting wake batches callbacks
-- level: works
--
-- ARGV[2]: the batch; ARGV[3]: the run; ARGV[4]: for how long it is kept behind its end; ARGV[5]: the kind of callback, ARGV[6] its
-- digest, ARGV[7] as `follow_ups` takes it.
-- The run has a record from then on, as in redis/wait.lua.
-- Reply: OK; '-' where the run is not there, '.' and the letter of its state when it has ended so that the callback would never
-- come in, '+' when it is in too many batches, '!' where the batch has another callback of that kind.

local refusal = layout_check()
if refusal then return refusal end
local now, id, run, kind = clock(), ARGV[2], ARGV[3], ARGV[5]
local ENDS = {[DONE] = 'done', [DEAD] = 'dead', [CANCELLED] = 'cancelled'}

-- Its state, nil where it is not there.
local function state_find()
  local text = call('HGET', runs, run)
  if text then
    local r = record_parse(string.sub(text, 1, RECORD_BYTES_MAX + 1))
    return r and r.state or DEAD
  end
  local o = ordinary_find(run)
  if not o then return nil end
  if o.head and o.state ~= DONE then adopt(o) end
  return o.state
end

local function is_never(state)
  return kind == 's' and state ~= DONE or kind == 'd' and state ~= DEAD
end

-- What there is of it before the batch itself does no harm, and is made again.
local function member_add(others)
  for at = 1, #others, 16 do
    if string.sub(others, at, at + 15) == id then return end
  end
  call('HSET', batches, 'm' .. run, others .. id)
end

local function make(state, others)
  local b = {id = id, state = 'C', expired = '0', added = 1, done = 0, dead = 0, cancelled = 0, keep = ARGV[4], depth = 1, c = '', s = '',
    d = '', parent = ''}
  call('HSET', meta, 'batches', '1')
  call('HDEL', meta, 'calm')
  call('ZADD', batches_until, BATCH_NEVER, id)
  if not ENDS[state] then member_add(others) end
  batch_save(b)
  if ENDS[state] then b[ENDS[state]] = 1 end
  batch_settle(b, now)
  local answer = callback_give(b, kind, ARGV[6], ARGV[7])
  batches_write()
  return answer
end

-- Of a repeat: whether what waits never comes in, as the run has ended otherwise, or is not there. Then the run is looked at as by
-- a first call: somebody may have revived it.
local function is_dropped(b)
  return callback_is_never(b, kind) and (b[kind] == '' or b[kind] == 'w' .. ARGV[6])
end

local b = batch_find(id)
if b and not is_dropped(b) then
  local answer = callback_give(b, kind, ARGV[6], ARGV[7])
  batches_write()
  if batch_told then wake_one() end
  return answer
end
local state = state_find()
if not state then return '-' end
if IS_FINAL[state] and is_never(state) then return '.' .. state end
local others = member_of(run) or ''
if #others >= 16 * RUN_BATCHES_MAX then return '+' end
adoptions_write()
local answer = make(state, others)
if batch_told then wake_one() end
return answer
