-- store/redis/lib_follow_up.lua - what is kept of follow-ups, as arguments of redis/lib_enqueue.lua.

local FOLLOW_UP_STRIDE = 6 -- ENQUEUE_STRIDE

-- ORDER ENQUEUE_ARGUMENTS: whether they are those of a run. One that is not would stop a script in its middle, and with it
-- all that come in with it.
local function follow_up_is_sound(list, at)
  local times, kept, idem, limited_by = list[at + 1], list[at + 2], list[at + 3], list[at + 5]
  return record_parse(RECORD_FRESH .. '0|' .. list[at]) ~= nil
    and (times == '' or string.find(times, '^%d+|%d+|%d+|%d$') ~= nil)
    and (kept == '' or string.find(kept, '^%d|%d+|[012]|%x+$') ~= nil)
    and (idem == '' or string.find(idem, '^%d+|%x+|.') ~= nil)
    and string.gsub(limited_by, '[CRFN]|%d+|%d+|%d+|[^;]+;', '') == ''
end

-- Of an entry of `follow_ups`; nil for something else.
local function follow_up_arguments(text)
  local list, at = {}, (string.find(text, '\n', 17, true) or #text) + 1
  while at <= #text do
    local _, stop, len = string.find(text, '^%$(%d+)\r\n', at)
    if not stop or stop + len + 2 > #text then return nil end
    list[#list + 1] = string.sub(text, stop + 1, stop + len)
    at = stop + len + 3
  end
  if #list == 0 or #list % FOLLOW_UP_STRIDE ~= 0 then return nil end
  for first = 1, #list, FOLLOW_UP_STRIDE do
    if not follow_up_is_sound(list, first) then return nil end
  end
  return list
end
