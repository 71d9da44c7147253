-- store/redis/lib_metadata.lua - what a job keeps, as the hash `metadata` has it: 'VERSION|SET|' and the bytes.

-- nil for what cannot be read, as if nothing were kept. The version as a text.
local function metadata_parse(text)
  local _, last, version, set_ms = string.find(text or '', '^([1-9]%d*)|(%d+)|')
  if not last or #version > 16 or #set_ms > 13 or #text - last > METADATA_BYTES_MAX then return nil end
  return {version = version, set_ms = tonumber(set_ms), bytes = string.sub(text, last + 1)}
end
