-- store/redis/batch_look.lua - what a batch has come to.
-- keys: meta batches
-- uses: base layout
-- level: reads
--
-- ARGV[2]: the batch. Reply: its text, as redis/lib_batches.lua has it, '' for none.

return layout_check() or call('HGET', batches, ARGV[2]) or ''
