-- store/redis/lib_bodies.lua - the line: ordinary runs, as they were enqueued.
--
-- Such a run has a number, its place in the line, and a body under that in `bodies`:
-- 'MS|KEEP|TIMEOUT|ATTEMPTS|JOB|KEEPFAIL|FINGERPRINT|TAGS\nPAYLOAD', written once; what is before the
-- payload is its head, and the tail of the record that it would have but for two fields at the end. Where
-- it stands tells its block (redis/lib_blocks.lua). Its id is of lane 1.
--
--   line_number(id)          the number, nil for an id of another lane
--   line_id(number, ms)      the id
--   body_head(body)          head and where the payload begins, nil when it cannot be read
--   body_ms(head)            the time of its enqueue
--   line.salt, line.taken    numbers as meta has them, for line_know() has been called, or set by the
--                            script with line_set(salt text, taken text); what is none is 0

local pack, unpack_text, floor = struct.pack, struct.unpack, math.floor
local sub, match, find = string.sub, string.match, string.find

local line = {}

-- A number as meta keeps them: none below 0, and none beyond what a number of the line can be.
local function line_count(text)
  return text and find(text, '^%d+$') and #text <= 14 and tonumber(text) or 0
end

local function line_set(salt, taken)
  local number = line_count(salt)
  line.salt, line.taken = number < 67108864 and number or 0, line_count(taken)
end

local function line_know()
  if line.salt then return end
  local facts = call('HMGET', meta, 'salt', 'taken')
  line_set(facts[1], facts[2])
end

local function line_number(id)
  local high, low = unpack_text('>I2I4', id, 11)
  if high < 4096 or high >= 8192 then return nil end
  return (high - 4096) * 4294967296 + low
end

local function line_id(number, ms)
  local salt = line.salt
  return pack('>I2I4I2I2I2I4', floor(ms / 4294967296), ms % 4294967296, 28672 + floor(salt / 16384),
    32768 + salt % 16384, 4096 + floor(number / 4294967296), number % 4294967296)
end

local function body_head(body)
  local head, at = match(body, BODY_HEAD)
  if not head or #head > BODY_HEAD_BYTES_MAX then return nil end
  return head, at
end

-- Also of a body that cannot be read otherwise; 0 when even that is damaged.
local function body_ms(body)
  local ms = match(body, '^(%d+)|')
  return ms and #ms <= 13 and tonumber(ms) or 0
end

-- The bodies of those of `ids` that have no text of a record, and their numbers, by their places.
local function ordinary_read(ids, texts)
  local numbers, places = {}, {}
  for at = 1, #ids do
    local number = not texts[at] and line_number(ids[at])
    if number then
      numbers[#numbers + 1] = number
      places[#numbers] = at
    end
  end
  local found, number_of = {}, {}
  for at, body in ipairs(read(bodies, numbers)) do
    found[places[at]] = body
    number_of[places[at]] = numbers[at]
  end
  return found, number_of
end
