-- store/redis/lib_events.lua - what becomes of runs, noted while a script decides it and written as one entry at its end.
--
-- `events` of `meta`: how many are kept, absent for none; `event`: the position of the newest. `events` holds entries
-- (store/event_entry.h), the score of each is the position of its last event. Whoever notes anything begins with
-- events_begin() and ends with events_write(); where nothing is kept, event_note stays nil.

local NO_RUN_ID = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
-- What a new run is told by: its record, or body, from keep_success_ms on.
local REST_JOB = '^[^|]*|[^|]*|[^|]*|([^|]*)'
local event_note -- (letter, id, number, job, many): of so many runs whose ids count up from this one, or of one
-- The last stretch: `runs` of it, and where it begins in `parts`; its last span: `id`, `many`, and what the next id would have
-- before and in its last four bytes.
local events_told = {most = 0, count = 0, parts = {}, at = 0, kind = nil, job = nil, runs = 0, id = nil, many = 0, head = nil, next_low = nil}

local function event_span_end()
  local told = events_told
  if told.many > 0 then told.parts[#told.parts + 1] = told.id .. struct.pack('>I2', told.many) end
  told.many, told.next_low = 0, nil
end

-- How many runs it has stands before its spans.
local function event_stretch_end()
  local told = events_told
  event_span_end()
  if told.at > 0 then told.parts[told.at] = told.kind .. told.runs .. '|' .. told.job .. '\n' end
end

local function event_stretch_begin(kind, job)
  local told = events_told
  event_stretch_end()
  told.kind, told.job, told.runs, told.at = kind, job, 0, #told.parts + 1
  told.parts[told.at] = ''
end

local function events_begin(most)
  if not most then return end
  local told, unpack_text = events_told, struct.unpack
  told.most = tonumber(most) or 0
  event_note = function(letter, id, number, job, many)
    local kind, head, low = letter .. '|' .. number .. '|', string.sub(id, 1, 12), unpack_text('>I4', id, 13)
    job, many = job or '', many or 1
    local fitting = 4294967296 - low
    if many > fitting then
      event_note(letter, id, number, job, fitting)
      local high = unpack_text('>I2', id, 11)
      return event_note(letter, string.sub(id, 1, 10) .. struct.pack('>I2I4', high + 1, 0), number, job, many - fitting)
    end
    if told.kind ~= kind or told.job ~= job then event_stretch_begin(kind, job) end
    if told.next_low ~= low or told.head ~= head or told.many + many > 65535 then
      event_span_end()
      told.id, told.head = id, head
    end
    told.many, told.next_low = told.many + many, low + many
    told.runs, told.count = told.runs + many, told.count + many
  end
end

-- What is beyond the number that is kept, in portions: the more often, the more comes.
local function events_trim(last)
  local beyond = last - events_told.most
  if beyond <= 0 or math.floor(last / EVENTS_TRIM) == math.floor((last - events_told.count) / EVENTS_TRIM) then return end
  local old = call('ZRANGEBYSCORE', events, '-inf', string.format('%.0f', beyond), 'LIMIT', 0, EVENTS_TRIM * 2)
  if #old > 0 then call('ZREM', events, unpack(old)) end
end

local function events_write(now)
  local told = events_told
  if told.count == 0 then return end
  event_stretch_end()
  local last = call('HINCRBY', meta, 'event', told.count)
  local last_text = string.format('%.0f', last)
  call('ZADD', events, last_text, last_text .. '|' .. now .. '|' .. told.count .. '\n' .. table.concat(told.parts))
  events_trim(last)
  told.count = 0
end
