-- store/redis/lib_events.lua - what becomes of runs, noted while a script decides it and written as one entry at its end.
--
-- `events` of `meta`: how many are kept, absent for none; `event`: the position of the newest. `events` holds entries
-- (store/event_entry.h), the score of each is the position of its last event. Whoever notes anything begins with
-- events_begin() and ends with events_write(); where nothing is kept, event_note stays nil.

local NO_RUN_ID = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
-- What a new run is told by: its record, or body, from keep_success_ms on.
local REST_JOB = '^[^|]*|[^|]*|[^|]*|([^|]*)'
local event_note -- (letter, id, number, job)
local events_told = {most = 0, count = 0, head = nil, tail = nil, heads = {}, ids = {}}

local function events_begin(most)
  if not most then return end
  local told = events_told
  told.most = tonumber(most) or 0
  event_note = function(letter, id, number, job)
    local head, tail = letter .. '|' .. number .. '|', job and '|' .. job .. '\n' or '|\n'
    if told.head ~= head or told.tail ~= tail then
      told.head, told.tail = head, tail
      told.heads[#told.heads + 1] = {head, tail}
      told.ids[#told.heads] = {}
    end
    local list = told.ids[#told.heads]
    list[#list + 1] = id
    told.count = told.count + 1
  end
end

local function events_write(now)
  local told = events_told
  if told.count == 0 then return end
  local last, parts = call('HINCRBY', meta, 'event', told.count), {}
  local last_text = string.format('%.0f', last)
  for at, head in ipairs(told.heads) do
    local list = told.ids[at]
    parts[at] = head[1] .. #list .. head[2] .. table.concat(list)
  end
  call('ZADD', events, last_text, last_text .. '|' .. now .. '|' .. told.count .. '\n' .. table.concat(parts))
  local beyond = last - told.most
  if beyond > 0 and math.floor(last / EVENTS_TRIM) ~= math.floor((last - told.count) / EVENTS_TRIM) then
    local old = call('ZRANGEBYSCORE', events, '-inf', string.format('%.0f', beyond), 'LIMIT', 0, EVENTS_TRIM * 2)
    if #old > 0 then call('ZREM', events, unpack(old)) end
  end
  told.count = 0
end
