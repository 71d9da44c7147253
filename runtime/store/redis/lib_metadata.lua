-- store/redis/lib_metadata.lua - what a job keeps, as the hash `metadata` has it: 'VERSION|SET|' and the bytes.

-- nil for no text. What cannot be read, which nobody of ours has written, is told as version 1 with as much of it as
-- may be kept: its reader finds that it is no metadata, and can replace it, but not unseen. The version as a text.
local function metadata_parse(text)
  if not text then return nil end
  local _, last, version, set_ms = string.find(text, '^([1-9]%d*)|(%d+)|')
  if not last or #version > 16 or #set_ms > 13 then last, version, set_ms = 0, '1', '0' end
  if #text - last > METADATA_BYTES_MAX then version = '1' end
  return {
    version = version, set_ms = tonumber(set_ms), bytes = string.sub(text, last + 1, last + METADATA_BYTES_MAX),
  }
end
