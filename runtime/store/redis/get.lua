-- store/redis/get.lua - reads all that is known of one run.
-- keys: runs payloads errors results progress meta bodies blocks spans block_leases batches
-- uses: base layout plan bodies blocks told
-- level: reads
--
-- ARGV[2]: the run. Reply: record, payload, error text, result, progress, '1' when a batch counts it,
-- else ''; empty when unknown. Texts are cut to what a run may have, bytes that are longer are left out. An ordinary run is told with the
-- record that it would have, '' when its body is damaged.

local refusal = layout_check()
if refusal then return refusal end
local now, id = clock(), ARGV[2]

-- The payload of a success may still lie in its body, and is gone all the same.
local function ordinary_told()
  local o = ordinary_find(id)
  if not o then return {} end
  if not o.head then return {'', '', '', '', '', ''} end
  local payload = o.state ~= DONE and string.sub(o.body, o.at) or ''
  return {ordinary_record(o), #payload <= PAYLOAD_BYTES_MAX and payload or '', '', '', '', ''}
end

local text = call('HGET', runs, id)
if not text then return ordinary_told() end

local function bytes(key)
  local value = call('HGET', key, id) or ''
  return #value <= PAYLOAD_BYTES_MAX and value or ''
end

local function words(key, most)
  return string.sub(call('HGET', key, id) or '', 1, most)
end

return {record_told(string.sub(text, 1, RECORD_BYTES_MAX + 1), now), bytes(payloads), words(errors, ERROR_TEXT_BYTES_MAX),
  bytes(results), words(progress, PROGRESS_BYTES_MAX + 1), call('HGET', batches, 'm' .. id) and '1' or ''}
