-- store/redis/wait.lua - tells the states of runs, and notes who waits for their ends.
-- keys: runs payloads ready urgent scheduled scheduled_urgent active done cancelled dead errors results unique unique_until meta wake sessions bodies blocks spans block_leases block_ends limits limited slots buckets refills waits waits_until
-- uses: base layout unique plan slots parking bodies blocks adopting waits
-- level: works
--
-- ARGV[2]: the waiter's address; ARGV[3]: for how long it is noted, 0: not at all; from ARGV[4] on: the runs.
-- Who is waited for has a record from then on, so that what is done with the line and its blocks knows nothing of waits.
-- Reply: a letter for each, its state or '-'.

local refusal = layout_check()
if refusal then return refusal end
local now, address, note = clock(), ARGV[2], tonumber(ARGV[3])
local until_ms, letters, ids = now + note, {}, {}
local puts, times, is_noted = {}, {}, note > 0
for at = 4, #ARGV do ids[at - 3] = ARGV[at] end
local texts = read(runs, ids)

-- Those of the others that are still good, and this one; one that is good for half as long stays.
local function note_put(id)
  local text, kept, count, latest = waits_of(id) or '', {}, 0, until_ms
  for its_until, its in string.gmatch(text, WAIT_ENTRY) do
    local ms = tonumber(its_until)
    if its == address then
      if ms > now + note / 2 then return end
    elseif ms > now then
      count = count + 1
      kept[count] = its_until .. ' ' .. its .. ';'
      latest = math.max(latest, ms)
    end
  end
  if count >= WAITERS_MAX then return end
  kept[count + 1] = until_ms .. ' ' .. address .. ';'
  times[#times + 1], times[#times + 2] = latest, id
  puts[#puts + 1], puts[#puts + 2] = id, table.concat(kept)
end

local function look(id, text)
  local r = text and record_parse(string.sub(text, 1, RECORD_BYTES_MAX + 1))
  if text then return r and r.state or DEAD end
  local o = ordinary_find(id)
  if not o then return '-' end
  if is_noted and o.head and o.state ~= DONE then adopt(o) end
  return o.state
end

if is_noted then waits_read(ids) end
-- One that is named twice is looked at once: it may be on its way to a record of its own by then.
local told = {}
for at, id in ipairs(ids) do
  if not told[id] then
    told[id] = look(id, texts[at])
    if is_noted and told[id] ~= '-' and not IS_FINAL[told[id]] then note_put(id) end
  end
  letters[at] = told[id]
end
if #puts > 0 then
  -- Times before fields, as in redis/lib_memory.lua, and both before steps may pass by them.
  write('ZADD', waits_until, times)
  write('HSET', waits, puts)
  call('HSET', meta, 'waits', '1')
  call('HDEL', meta, 'calm')
end
adoptions_write()
if is_noted then waits_forget(now) end
return table.concat(letters)
