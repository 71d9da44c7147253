-- store/redis/batch.lua - makes a batch, gives it a callback, or closes it.
-- keys: runs meta wake bodies follow_ups batches batches_until limited slots
-- uses: base events layout wake intake batches callbacks
-- level: produces
--
-- ARGV[3]: the batch; ARGV[4]: open, then ARGV[5] is the batch that it is in, '' for none, ARGV[6] for how long it is open, ARGV[7] for
-- how long it is kept; call, then ARGV[5] is the kind, ARGV[6] its digest, ARGV[7] as `follow_ups` takes it; close.
-- Reply: OK; '-' where the batch or its parent is not there, '.' for a parent that has ended, '>' where it would be too deep,
-- '=' for one that is there and has another parent or none, '!' for another callback of that kind, '~' for one that would never come in.

local id, act = ARGV[3], ARGV[4]
local b = batch_find(id)

local function open()
  if b then return b.parent == ARGV[5] and 'OK' or '=' end
  local parent, depth = ARGV[5] ~= '' and batch_find(ARGV[5]), 1
  if ARGV[5] ~= '' then
    if not parent then return '-' end
    if parent.state == 'E' then return '.' end
    depth = parent.depth + 1
    if depth > BATCH_DEPTH_MAX then return '>' end
  end
  call('HSET', meta, 'batches', '1', 'served', '1')
  call('HDEL', meta, 'calm')
  layout_write()
  call('ZADD', batches_until, now + ARGV[6], id, BATCH_NEVER + now, 'o' .. id)
  if parent then
    parent.added = parent.added + 1
    batch_save(parent)
    call('HSET', batches, 'm' .. id, parent.id)
  end
  batch_save({id = id, state = 'O', expired = '0', added = 0, done = 0, dead = 0, cancelled = 0, keep = ARGV[7], depth = depth,
    c = '', s = '', d = '', parent = ARGV[5]})
  return 'OK'
end

local function close()
  if b.state ~= 'O' then return 'OK' end
  b.state = 'C'
  call('ZADD', batches_until, BATCH_NEVER, id)
  call('ZREM', batches_until, 'o' .. id)
  batch_settle(b, now)
  return 'OK'
end

local answer = '-'
if act == 'open' then answer = open() elseif b then answer = act == 'call' and callback_give(b, ARGV[5], ARGV[6], ARGV[7]) or act == 'close' and close() end
batches_write()
-- The next STEP brings what is to come in, and knows when the batch is over.
if batch_told or act == 'open' then wake_one() end
return answer
