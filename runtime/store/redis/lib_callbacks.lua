-- store/redis/lib_callbacks.lua - callbacks that batches are given.

-- Whether what it tells has come about.
local function callback_is_told(b, kind)
  if kind == 'd' then return b.dead > 0 end
  return b.state == 'E' and (kind == 'c' or b.done == b.added and b.expired == '0')
end

-- Whether it can not come about any more.
local function callback_is_never(b, kind)
  if kind == 'd' then return b.state == 'E' and b.dead == 0 end
  return kind == 's' and (b.dead + b.cancelled > 0 or b.expired == '1')
end

-- Returns OK, also when it is there; '!' for another one of its kind, '~' for one that would never come in.
local function callback_give(b, kind, digest, text)
  local before = string.sub(b[kind], 2)
  if before ~= '' then return before == digest and 'OK' or '!' end
  if callback_is_never(b, kind) then return '~' end
  b[kind] = 'w' .. digest
  call('HSET', batches, kind .. b.id, text)
  if callback_is_told(b, kind) then batch_tell(b, kind) end
  batch_save(b)
  return 'OK'
end
