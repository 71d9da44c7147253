-- store/redis/lib_lines.lua - log lines that runs keep, as `logs` has them: in chunks, so that a new line costs no more
-- than a chunk, however many there are.
--
-- The run's id -> its head, 'FIRST|LAST|LINES|BYTES|SHOWN': the numbers of its first and last chunk, what all of them
-- hold, and how many lines, the last ones, the run keeps. The id and a number behind it -> that chunk: whole lines, of
-- RUN_LOG_CHUNK_BYTES at most or a single one.

local LOG_HEAD = '^(%d+)|(%d+)|(%d+)|(%d+)|(%d+)$'
local LOG_CHUNKS_MAX = 128 -- no run needs so many

-- What a head says, as numbers; nil for what is none.
local function log_head(text)
  local first, last, count, bytes, shown = string.match(text or '', LOG_HEAD)
  if not first or #last > 9 or tonumber(last) - first >= LOG_CHUNKS_MAX then return nil end
  return tonumber(first), tonumber(last), tonumber(count), tonumber(bytes), tonumber(shown)
end

-- The fields of the run's chunks, put behind those of `fields`.
local function log_chunks(id, first, last, fields)
  local count = #fields
  for number = first, last do fields[count + number - first + 1] = id .. number end
  return fields
end

local function lines_count(text)
  local count, at = 0, string.find(text, '\n', 1, true)
  while at do
    count, at = count + 1, string.find(text, '\n', at + 1, true)
  end
  return count
end

-- What these runs have kept goes.
local function logs_drop(ids)
  if call('HLEN', logs) == 0 then return end
  local heads, fields = read(logs, ids), {}
  for at = 1, #ids do
    if heads[at] then
      local first, last = log_head(heads[at])
      fields[#fields + 1] = ids[at]
      if first then log_chunks(ids[at], first, last, fields) end
    end
  end
  write('HDEL', logs, fields)
end
