-- store/redis/list.lua - reads a page of a queue's runs.
-- keys: runs ready urgent scheduled active done cancelled dead meta bodies blocks spans block_leases block_ends
-- uses: base layout known waiting plan bodies blocks told
-- level: reads
--
-- These are runs in state ARGV[2] from place ARGV[3] on, at most ARGV[4]; in every state for '*', and then
-- about as many: the indexes shift under a reader while workers claim, a scan of the runs does not. It
-- begins with the bodies: an ordinary run may become one with a record meanwhile, and never the other
-- way round.
-- Reply: next place (0 at the end), then id, record...; empty when nobody has used the queue.

local refusal = layout_check()
if refusal then return refusal end
if ARGV[3] == '0' and not is_known() then return {} end
local now, state, limit = clock(), ARGV[2], tonumber(ARGV[4])

-- Where the runs of a state stand has parts, and a place is PART times the part before it and the place
-- there. Below 2^53.
local PART = 281474976710656
-- Payloads come along with what is read of bodies: so many bytes, and some more, are enough for a page.
local BYTES_MAX = 1048576
local part, from = floor(tonumber(ARGV[3]) / PART), tonumber(ARGV[3]) % PART
local shown, room, bytes = {0}, limit, 0

local function show(id, text)
  shown[#shown + 1] = id
  shown[#shown + 1] = text
end

local function records_show(ids)
  local texts = read(runs, ids)
  for at, id in ipairs(ids) do
    local text = texts[at] and #texts[at] <= RECORD_BYTES_MAX and record_told(texts[at], now)
    local r = text and record_parse(text)
    if r and r.state == state then show(id, text) end
  end
  room = room - #ids
end

-- The last number that a block can have.
local blocks_end
local function blocks_last()
  if blocks_end then return blocks_end end
  local name = call('ZREVRANGEBYSCORE', spans, '+inf', '-inf', 'LIMIT', 0, 1)[1]
  local b = name and block_load(name)
  blocks_end = b and b.first + #b.chars - 1 or name and math.huge or 0
  return blocks_end
end

-- Behind all blocks no block is looked for.
local function ordinary_at(number, body)
  line_know()
  if number <= line.taken or number <= blocks_last() then return ordinary_of(number, body) end
  local head, at = body_head(body)
  return {id = line_id(number, body_ms(body)), number = number, state = WAITING, body = body, head = head, at = at}
end

local function ordinary_show(number, body, wanted)
  local o = ordinary_at(number, body)
  if not o or not o.head or wanted and o.state ~= wanted then return end
  show(o.id, ordinary_record(o))
  room = room - 1
end

-- Each part: shows what it has from a place on, as far as there is room; the place where it goes on, nil
-- at its end.

local function index_part(command, key, place, last)
  if place >= last then return nil end
  if room == 0 then return place end
  local ids = call(command, key, place, math.min(place + room, last) - 1)
  for at = 1, #ids do ids[at] = sub(ids[at], 1, 16) end
  records_show(ids)
  place = place + #ids
  return place < last and #ids > 0 and place or nil
end

local function set_part(key)
  return function(place) return index_part('ZRANGE', key, place, call('ZCARD', key)) end
end

-- So many bodies are read at once.
local BODIES = 16

-- Shows the ordinary runs of `numbers` that are in the state; how many of the numbers it has looked at.
local function numbers_show(numbers)
  local at = 1
  while at <= #numbers and room > 0 and bytes < BYTES_MAX do
    local last = math.min(at + math.min(BODIES, room) - 1, #numbers)
    local texts = call('HMGET', bodies, unpack(numbers, at, last))
    for n = 1, last - at + 1 do
      if texts[n] then
        bytes = bytes + #texts[n]
        ordinary_show(numbers[at + n - 1], texts[n], state)
      end
    end
    at = last + 1
  end
  return at - 1
end

-- A block of the index has so many places.
local BLOCK_PLACES = 65536
local CHARS = {[ACTIVE] = '[01]', [DONE] = '%a'}

local function blocks_part(key)
  return function(place)
    while bytes < BYTES_MAX do
      local rank, skip = floor(place / BLOCK_PLACES), place % BLOCK_PLACES
      local name = call('ZRANGE', key, rank, rank)[1]
      if not name then return nil end
      if room == 0 then return place end
      local b, numbers, places = block_load(name), {}, {}
      for at = skip + 1, b and #b.chars or 0 do
        if find(sub(b.chars, at, at), CHARS[state]) then
          numbers[#numbers + 1], places[#places + 1] = b.first + at - 1, at
        end
      end
      local looked = numbers_show(numbers)
      if looked < #numbers then return rank * BLOCK_PLACES + places[looked + 1] - 1 end
      place = (rank + 1) * BLOCK_PLACES
    end
    return place
  end
end

-- Places are numbers; so many of them are looked at, for there may be holes.
local HOLES = 2000

local function line_part(place)
  local facts = call('HMGET', meta, 'held', 'kept', 'line')
  local last = line_count(facts[3])
  line_know()
  place = math.max(place, line.taken + 1)
  if place > last or line_waiting(facts[1], facts[2]) == 0 then return nil end
  if room == 0 then return place end
  local numbers = {}
  for number = place, math.min(last, place + HOLES) do numbers[#numbers + 1] = number end
  place = place + numbers_show(numbers)
  return place <= last and place or nil
end

local due = (state == WAITING or state == SCHEDULED) and call('ZCOUNT', scheduled, '-inf', now) or 0

-- Waiting runs: those with a priority first, then the list, then the line, then those of the scheduled
-- that are due. Places among the scheduled count from the first of all, so that time alone shifts none.
local PARTS = {
  [WAITING] = {
    set_part(urgent),
    function(place) return index_part('LRANGE', ready, place, call('LLEN', ready)) end,
    line_part,
    function(place) return index_part('ZRANGE', scheduled, place, due) end,
  },
  [SCHEDULED] = {
    function(place) return index_part('ZRANGE', scheduled, math.max(place, due), call('ZCARD', scheduled)) end,
  },
  [ACTIVE] = {set_part(active), blocks_part(block_leases)},
  [DONE] = {set_part(done), blocks_part(block_ends)},
  [CANCELLED] = {set_part(cancelled)},
  [DEAD] = {set_part(dead)},
}

local function page_of_state()
  local parts = PARTS[state]
  while parts[part + 1] do
    from = parts[part + 1](from)
    if from then break end
    part, from = part + 1, 0
  end
  if parts[part + 1] then shown[1] = part * PART + from end
  return shown
end

-- So many bodies at once, for their payloads come along.
local SCAN_BODIES = 100

local function scan(key, count)
  local page = call('HSCAN', key, string.format('%.0f', from), 'COUNT', count)
  from = tonumber(page[1])
  return page[2]
end

local function bodies_scan()
  local fields = scan(bodies, math.min(limit, SCAN_BODIES))
  for at = 1, #fields, 2 do
    bytes = bytes + #fields[at + 1]
    if find(fields[at], '^[1-9]%d*$') and #fields[at] <= 14 then ordinary_show(tonumber(fields[at]), fields[at + 1]) end
  end
end

local function runs_scan()
  local fields = scan(runs, math.max(room, 1))
  for at = 1, #fields, 2 do
    if #fields[at] == 16 and #fields[at + 1] <= RECORD_BYTES_MAX then show(fields[at], record_told(fields[at + 1], now)) end
  end
end

local function page_of_all()
  if part == 0 then
    repeat bodies_scan() until from == 0 or room <= 0 or bytes >= BYTES_MAX
    shown[1] = from > 0 and from or PART
    if from > 0 or room <= 0 then return shown end
  end
  runs_scan()
  shown[1] = from > 0 and PART + from or 0
  return shown
end

if state == '*' then return page_of_all() end
return page_of_state()
