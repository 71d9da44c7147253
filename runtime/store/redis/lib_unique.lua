-- store/redis/lib_unique.lua - unique keys: who holds one, and who takes it (store/store.h).
--
-- An entry is the id of the run that was the last to take its key; with the end of its time in decimal
-- behind it where no state keeps the key. Whether that run holds it, its record and the clock say.
-- Such an end stands in `unique_until` as well, written first and dropped first: what is over by its score is
-- dropped, whatever the entry says.

local UNIQUE_BIT = {[SCHEDULED] = 1, [WAITING] = 2, [ACTIVE] = 4}

-- What the script has met and decided: entries by their keys, false for none; those that are to be
-- written; keys that have an end in the set; and runs with a key as the script has left them, taken apart or not.
local unique_entries, unique_touched, unique_timed, unique_runs, unique_texts = {}, {}, {}, {}, {}

local function unique_entry(key)
  local entry = unique_entries[key]
  if entry == nil then
    entry = call('HGET', unique, key)
    unique_entries[key] = entry
    unique_timed[key] = entry and #entry > 16
  end
  return entry
end

-- The entries of these keys, in one go; after that, unique_entry() does not ask.
local function uniques_read(list)
  local entries = read(unique, list)
  for at, key in ipairs(list) do
    if unique_entries[key] == nil then
      local entry = entries[at]
      unique_entries[key] = entry
      unique_timed[key] = entry and #entry > 16
    end
  end
end

local function unique_set(key, entry)
  unique_entry(key)
  unique_entries[key] = entry
  unique_touched[key] = true
end

-- Whether the states of a run keep its key in the one that it is in.
local function unique_keeps(r, states, now)
  local state = r.state
  if state == SCHEDULED and tonumber(r.at_ms) <= now then state = WAITING end
  local bit = UNIQUE_BIT[state]
  return bit ~= nil and math.floor(tonumber(states) / bit) % 2 == 1, state
end

local function is_within(until_text, now)
  return until_text == '0' or tonumber(until_text) > now
end

-- Whether the run of an entry without an end holds `key`.
local function unique_holds(r, key, now)
  local its, states, until_text = string.match(r.tail, TAIL_UNIQUE)
  if its ~= key then return false end
  local is_keeping, state = unique_keeps(r, states, now)
  return is_keeping and is_within(until_text, now) and (state ~= WAITING or is_within(tostring(r.expires_at_ms), now))
end

local function unique_run(id)
  local r = unique_runs[id]
  if r == nil then
    local text = unique_texts[id] or call('HGET', runs, id)
    r = text and record_parse(text) or false
  end
  return r
end

-- The id of the run that holds `key`, nil when nobody does.
local function unique_holder(key, now)
  local entry = unique_entry(key)
  if not entry then return nil end
  local id, until_text = string.sub(entry, 1, 16), string.sub(entry, 17)
  if until_text ~= '' then return is_within(until_text, now) and id or nil end
  local r = unique_run(id)
  return r and unique_holds(r, key, now) and id or nil
end

-- An end of the run `id`.
local function unique_release(id, key)
  if key ~= '' and unique_entry(key) == id then unique_set(key, false) end
end

-- An ack, a claim or a move has brought the run where it is: it has its key again, if that is free.
local function unique_return(id, r, now)
  local key, states, until_text = string.match(r.tail, TAIL_UNIQUE)
  if key == '' then return end
  if unique_keeps(r, states, now) and is_within(until_text, now) and not unique_holder(key, now) then
    unique_set(key, id)
  end
end

-- The end of a run's time with its key says nothing where its states alone tell; of one that began without the key, as
-- another had taken it while it had expired (the clock was set back since), it is this: else nothing would tell redis/fsck.lua
-- that it may have none.
local UNIQUE_LEFT = '9999999999999'

local function unique_leave(id, r)
  local key, _, until_text = string.match(r.tail, TAIL_UNIQUE)
  if key == '' or until_text ~= '0' or unique_entry(key) == id then return end
  local before = string.match(r.tail, BEFORE_unique_until_ms)
  r.tail = before .. UNIQUE_LEFT .. string.sub(r.tail, #before + 2)
end

-- A claim has made it active. The key of one that could keep it before is as it was.
local function unique_claim(id, r, now)
  unique_runs[id] = r
  if not unique_keeps({state = WAITING}, string.match(r.tail, TAIL_unique_while), now) then unique_return(id, r, now) end
end

-- What is to be written: keys and entries; keys to drop; ends and keys; keys whose ends are to be dropped.
local function uniques_settle()
  local puts, drops, time_puts, time_drops = {}, {}, {}, {}
  for key in pairs(unique_touched) do
    local entry = unique_entries[key]
    local is_timed = entry and #entry > 16
    if entry then
      puts[#puts + 1] = key
      puts[#puts + 1] = entry
    else
      drops[#drops + 1] = key
    end
    if is_timed then
      time_puts[#time_puts + 1] = string.sub(entry, 17)
      time_puts[#time_puts + 1] = key
    elseif unique_timed[key] then
      time_drops[#time_drops + 1] = key
    end
    unique_timed[key] = is_timed
  end
  unique_touched = {}
  return puts, drops, time_puts, time_drops
end
