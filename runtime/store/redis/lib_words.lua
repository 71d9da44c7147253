-- store/redis/lib_words.lua - what a beat or an end says beside all else: progress, and log lines to keep.

-- Those that the run has, and the new ones; of too many the oldest go, as core/run_log.h has it.
local function log_join(id, most, lines)
  local text, from = (call('HGET', logs, id) or '') .. lines, 1
  local _, left = string.gsub(text, '\n', '')
  while left > most or #text - from >= RUN_LOG_BYTES_MAX do
    local stop = find(text, '\n', from, true)
    if not stop then break end
    from, left = stop + 1, left - 1
  end
  return sub(text, from)
end

-- Keeps the lines that stand in `words` behind a NUL, the number of those that may stay, and a bar. Returns what comes
-- before: the report of progress, '' for none.
local function words_keep(id, words)
  local report, most, lines = match(words, '^([^%z]*)%z(%d+)|(.*)$')
  if not report then return words end
  call('HSET', logs, id, log_join(id, tonumber(most), lines))
  return report
end
