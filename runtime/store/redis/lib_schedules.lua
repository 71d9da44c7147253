-- store/redis/lib_schedules.lua - a schedule as the hash `schedules` keeps it.
--
-- 'MARK|NEXT|ASKED|WORDS|', the ids of its newest run and of its last one out of turn (16 bytes each, zeroes
-- for none), its template. ASKED: the call that brought the latter, 0 for none. Words: 'c' by the calendar, 'o' runs may overlap, 'p' paused.
local NO_RUN = string.rep('\0', 16)

-- nil for what cannot be read, as if it were new.
local function schedule_parse(text)
  local _, last, mark, next_ms, asked, words = string.find(text or '', '^(%d+)|(%d+)|(%d+)|(%l*)|')
  if not last or #text < last + 32 then return nil end
  return {mark = tonumber(mark), next = tonumber(next_ms), asked = asked, words = words,
    newest = string.sub(text, last + 1, last + 16), brought = string.sub(text, last + 17, last + 32),
    template = string.sub(text, last + 33)}
end

local function schedule_has(s, word) return string.find(s.words, word, 1, true) ~= nil end

local function schedule_text(s)
  return s.mark .. '|' .. s.next .. '|' .. s.asked .. '|' .. s.words .. '|' .. s.newest .. s.brought .. s.template
end
