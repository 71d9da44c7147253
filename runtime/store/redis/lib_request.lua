-- store/redis/lib_request.lua - what STEP was asked: its arguments by name, and the texts of numbers.
--
-- ARGV: now session nonce want max_bytes lease_ms ack_count beat_count starts in_company group_count,
--       per ack:   id 'EVENT|attempt|delay_ms|has_blob' blob; 'b' behind it for a RELEASE of what had begun,
--                  and '|words' when there are some; has_blob 2: what comes in with the end of a DONE stands behind its
--                  result, all of it in parts of '$LENGTH', a line's end, as many bytes and another one
--       per beat:  id 'attempt|extend_ms|started|words', '' for none; started: 2 for excused
--                  words: progress, and behind a NUL 'MOST|LINES', log lines to keep (redis/lib_words.lua)
--       per group: FIRST COUNT SINCE, so many numbers of the line of which the first attempt ended as DONE
--                  without result, progress and delay; all of one queue's salt and of one claim, that
--                  of the time SINCE; 0 when it is not known
--       ids of the groups' runs, 16 bytes each (which step_fast.lua is not sent: it needs none)
--       last what the worker has free, 'NAME:UNITS,NAME:UNITS', or ''

local session, nonce = ARGV[2], ARGV[3]
local want, max_bytes, lease = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local ack_count, beat_count = tonumber(ARGV[7]), tonumber(ARGV[8])
local starts, in_company = tonumber(ARGV[9]), ARGV[10] == '1'
local group_count = tonumber(ARGV[11])
local acks_at = 12
local beats_at = acks_at + ack_count * 3
local groups_at = beats_at + beat_count * 2
local group_ids = group_count > 0 and ARGV[groups_at + group_count * 3]
local ended_count = ack_count + (group_ids and #group_ids / 16 or 0)
-- Units that are free, by their names; nil when nothing is offered.
local offers = nil
for name, units in string.gmatch(ARGV[#ARGV], '([^,:]+):(%d+)') do
  offers = offers or {}
  offers[name] = tonumber(units)
end
local now = clock()

local sub, find = string.sub, string.find

-- Making a number's text is slow, and a batch needs the same few again and again.
local texts_of = {}
local function text_of(number)
  local text = texts_of[number]
  if not text then
    text = tostring(number)
    texts_of[number] = text
  end
  return text
end
local now_text, lease_text, version_text = text_of(now), text_of(now + lease), text_of(RECORD_VERSION)
