-- keys: runs payloads errors results progress
-- uses: base
--
-- Reply: record, payload, error text, result, progress of run ARGV[2]; empty when unknown.

local id = ARGV[2]
local text = call('HGET', runs, id)
if not text then return {} end
return {text, call('HGET', payloads, id) or '', call('HGET', errors, id) or '',
  call('HGET', results, id) or '', call('HGET', progress, id) or ''}
