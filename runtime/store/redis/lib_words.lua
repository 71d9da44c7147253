-- store/redis/lib_words.lua - what a beat or an end says beside all else: progress, and log lines to keep.

-- The chunks that lines make which come behind those of chunk `last`, by their numbers: that one, as long as there is
-- room, and new ones. Returns the number of the last one too, and how many lines came.
local function lines_lay(id, last, lines)
  local chunk, from, at, added, chunks = call('HGET', logs, id .. last) or '', 1, 1, 0, {}
  local size = #chunk
  while at <= #lines do
    local stop = find(lines, '\n', at, true) or #lines
    if size > 0 and size + stop - at + 1 > RUN_LOG_CHUNK_BYTES then
      chunks[last] = chunk .. sub(lines, from, at - 1)
      last, chunk, size, from = last + 1, '', 0, at
    end
    size, at, added = size + stop - at + 1, stop + 1, added + 1
  end
  chunks[last] = chunk .. sub(lines, from)
  return chunks, last, added
end

-- The run keeps the lines too, of all `most` at most; of too many the oldest go, as core/run_log.h has it: a chunk goes
-- when what is left without it is enough, and whoever reads leaves out the rest.
local function log_keep(id, most, lines)
  local first, held, count, bytes, shown = log_head(call('HGET', logs, id))
  if not first then first, held, count, bytes, shown = 1, 1, 0, 0, 0 end
  local chunks, last, added = lines_lay(id, held, lines)
  local drops, puts = {}, {id, ''}
  count, bytes, shown = count + added, bytes + #lines, math.min(shown + added, most)
  while first < last and (count > shown or bytes > RUN_LOG_BYTES_MAX) do
    local oldest = chunks[first] or call('HGET', logs, id .. first) or ''
    local its = lines_count(oldest)
    if count - its < shown and bytes - #oldest < RUN_LOG_BYTES_MAX then break end
    if first <= held then drops[#drops + 1] = id .. first end
    first, count, bytes = first + 1, count - its, bytes - #oldest
  end
  for number = math.max(first, held), last do
    puts[#puts + 1] = id .. number
    puts[#puts + 1] = chunks[number]
  end
  puts[2] = string.format('%d|%d|%d|%d|%d', first, last, count, bytes, math.min(shown, count))
  write('HSET', logs, puts)
  write('HDEL', logs, drops)
end

-- Keeps the lines that stand in `words` behind a NUL, the number of those that may stay, and a bar; none of them on a
-- server that is short of memory, which is told. Returns what comes before: the report of progress, '' for none.
local function words_keep(id, words)
  local report, most, lines = match(words, '^([^%z]*)%z(%d+)|(.*)$')
  if not report then return words end
  if granted.has_room then
    log_keep(id, tonumber(most), lines)
  else
    granted.lines_left = true
  end
  return report
end
