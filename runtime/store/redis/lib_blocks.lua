-- store/redis/lib_blocks.lua - blocks: what has happened to ordinary runs; and their adoption.
--
-- A block is what one claim has taken off the line. Its name is its first number, its text
-- 'SESSION|SINCE|KEEP|TIMEOUT|LONG|CHARS|UNTILS'; CHARS has one for each number from the first on: `1` held and
-- started, `0` held and not started, a letter for done and kept until the instant of its place in UNTILS,
-- `-` not here any more. An instant of UNTILS whose letter no run has means nothing.
--
--   block_of(number)         its block, its place there and its char; nil when it is in none
--   block_load(name)         the block of that name, nil when there is none or it cannot be read
--   block_leave(b, place)    the run at `place` is not here any more: counts, changes the block
--   block_set(b, place, n, char)   sets chars, counts nothing
--   block_lease(b)           the end of its lease; 0 when nothing of it is held
--   block_until(b, char)     the instant of a letter, 0 for one that has none
--   block_letter(b, text)    the letter of an instant, made when there is none; nil when all are used
--
-- A block: name, first, owner, since, keep, timeout, long, chars, untils; all but first are texts. Those
-- that were changed are planned by plan_write(), with their leases, ends and spans.
--
--   ordinary_find(id)        an ordinary run; nil when there is no such one
--   ordinary_of(number, body)    the same of a body that was read; nil when it stands nowhere
--   ordinary_in(b, place, body)  the same of one that stands at a place of a block
--   ordinary_record(o)       the text of the record that it would have as it stands
--   ordinary_adopt(o)        makes it a run with a record at the same id, state and attempt: plans that
--                            its payload is put, its body dropped, its block changed, and returns
--                            the record as record_parse() gives it, which the caller puts, with its
--                            entry in an index. In its hands it is like any other.
--
-- An ordinary run: id, number, name (its number as a text), state, body, head and at (body_head(); no head:
-- it cannot be read, and must be put aside: redis/lib_aside.lua), block, place, char (no block: it waits);
-- is_leaving, for a caller who asks for no end of its lease.

local blocks_known, blocks_changed, block_last = {}, {}, nil

local function block_parse(name, text)
  local owner, since, keep, timeout, long, chars, untils = match(text, BLOCK_FIELDS)
  if not owner then return nil end
  return {name = name, first = tonumber(name), owner = owner, since = since, keep = keep, timeout = timeout,
    long = long, chars = chars, untils = untils, is_leased = find(chars, '[01]') ~= nil,
    is_ending = find(chars, '%a') ~= nil}
end

local function block_load(name)
  local b = blocks_known[name]
  if b == nil then
    local text = call('HGET', blocks, name)
    b = text and block_parse(name, text) or false
    blocks_known[name] = b
  end
  return b or nil
end

local function block_of(number)
  local b = block_last
  local place = b and number - b.first + 1
  if not b or place < 1 or place > #b.chars then
    local name = call('ZREVRANGEBYSCORE', spans, number, '-inf', 'LIMIT', 0, 1)[1]
    b = name and block_load(name)
    if not b then return nil end
    block_last, place = b, number - b.first + 1
    if place > #b.chars then return nil end
  end
  return b, place, sub(b.chars, place, place)
end

local function block_set(b, place, n, char)
  local chars = b.chars
  b.chars = sub(chars, 1, place - 1) .. string.rep(char, n) .. sub(chars, place + n)
  if not b.is_changed then
    b.is_changed = true
    blocks_changed[#blocks_changed + 1] = b
  end
end

local function block_leave(b, place)
  local char = sub(b.chars, place, place)
  if char == '-' then return end
  count((char == '0' or char == '1') and 'held' or 'kept', -1)
  block_set(b, place, 1, '-')
end

local function block_lease(b)
  b.lease = b.lease or tonumber(call('ZSCORE', block_leases, b.name) or 0)
  return b.lease
end

local function block_instants(b)
  local list = {}
  for text in string.gmatch(b.untils, '%d+') do list[#list + 1] = text end
  return list
end

local function block_until(b, char)
  local place = find(LETTERS, char, 1, true)
  return tonumber(place and block_instants(b)[place] or 0)
end

-- The place of an instant that nobody needs any more is used again.
local function block_letter(b, text)
  local list, free = block_instants(b), nil
  for place, known in ipairs(list) do
    if known == text then return sub(LETTERS, place, place) end
    if not free and not find(b.chars, sub(LETTERS, place, place), 1, true) then free = place end
  end
  free = free or #list + 1
  if free > #LETTERS then return nil end
  list[free] = text
  b.untils = table.concat(list, ',')
  return sub(LETTERS, free, free)
end

-- The earliest instant that a run of it is kept until; nil when none is kept.
local function block_end(b)
  if not find(b.chars, '%a') then return nil end
  local list, first = block_instants(b), nil
  for place = 1, #LETTERS do
    if find(b.chars, sub(LETTERS, place, place), 1, true) then
      local at = tonumber(list[place] or 0)
      if not first or at < first then first = at end
    end
  end
  return first
end

local function block_text(b)
  return b.owner .. '|' .. b.since .. '|' .. b.keep .. '|' .. b.timeout .. '|' .. b.long .. '|' .. b.chars .. '|'
    .. b.untils
end

local function block_plan(b)
  b.is_changed = false
  local ends = block_end(b)
  local is_leased = find(b.chars, '[01]') ~= nil
  if b.is_leased and not is_leased then plan_add('block_lease_drops', b.name) end
  if ends then
    plan_put('block_end_puts', ends, b.name)
  elseif b.is_ending then
    plan_add('block_end_drops', b.name)
  end
  b.is_leased, b.is_ending = is_leased, ends ~= nil
  if is_leased or ends then
    if ends == nil then b.untils = '' end
    plan_put('block_puts', b.name, block_text(b))
  else
    plan_add('block_drops', b.name)
  end
end

function blocks_settle()
  if #blocks_changed == 0 then return end
  for at = 1, #blocks_changed do block_plan(blocks_changed[at]) end
  blocks_changed = {}
end

local CHAR_STATES = {['0'] = ACTIVE, ['1'] = ACTIVE}

-- What stands at `place` of the block, with the body that was read.
local function ordinary_in(b, place, body)
  local number, char = b.first + place - 1, sub(b.chars, place, place)
  local head, at = body_head(body)
  return {id = line_id(number, body_ms(body)), number = number, name = number, state = CHAR_STATES[char] or DONE,
    body = body, head = head, at = at, block = b, place = place, char = char}
end

-- Without its id.
local function ordinary_place(number, body)
  line_know()
  local b, place, char = block_of(number)
  local state = b and (CHAR_STATES[char] or char ~= '-' and DONE) or not b and number > line.taken and WAITING
  if not state then return nil end
  local head, at = body_head(body)
  return {number = number, name = tostring(number), state = state, body = body, head = head, at = at,
    block = b, place = place, char = char}
end

local function ordinary_of(number, body)
  local o = ordinary_place(number, body)
  if o then o.id = line_id(number, body_ms(body)) end
  return o
end

local function ordinary_find(id)
  local number = line_number(id)
  local body = number and call('HGET', bodies, number)
  if not body then return nil end
  line_know()
  -- One that cannot be read may have lost its time.
  if id ~= line_id(number, body_ms(body)) and (body_head(body) or id ~= line_id(number, 0)) then return nil end
  local o = ordinary_place(number, body)
  if o then o.id = id end
  return o
end

-- The first six fields of its record, all texts.
local function ordinary_lease(o)
  local b = o.block
  if o.state == ACTIVE then return '1', b.owner, o.is_leaving and '0' or tostring(block_lease(b)), b.since, o.char end
  if o.state == DONE then return '1', b.owner, tostring(block_until(b, o.char)), '0', '0' end
  return '0', '', '0', '0', '0'
end

local function ordinary_record(o)
  local attempt, owner, at_ms, from_ms, started = ordinary_lease(o)
  return RECORD_VERSION .. '|' .. o.state .. '|' .. attempt .. '|' .. owner .. '|' .. at_ms .. '|' .. from_ms .. '|'
    .. started .. BODY_MIDDLE .. o.head .. BODY_REST
end

-- `is_ending`: its payload will not be wanted any more.
local function ordinary_adopt(o, is_ending)
  if o.state ~= DONE and not is_ending then plan_put('payload_puts', o.id, sub(o.body, o.at)) end
  local attempt, owner, at_ms, from_ms, started = ordinary_lease(o)
  plan_add('body_drops', o.name)
  if o.block then block_leave(o.block, o.place) end
  return {state = o.state, attempt = attempt, owner = owner, at_ms = at_ms, timeout_from_ms = from_ms,
    started = started, losses = '0', expires_at_ms = '0', cancel = '0', failures = '0', crashes = '0',
    crash_streak = '0', behind = '0', tail = o.head .. BODY_REST}
end
