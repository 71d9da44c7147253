#!/bin/sh
# The worker's Redis user has rights to one of its two queues only. It ends with an error at each
# start, whichever queue it asks first, and the runs of the other queue do not suffer for it.
. "$(dirname "$0")/lib.sh"
store_start
whole=$CULEX_URL
"$nap" enqueue wink
redis-cli -s "$scratch/redis.sock" acl setuser half on '>pw' '~culex:{naps}:*' '~culex:queues' '&*' +@all >"$scratch/acl"

# Threads begin a run at once: a claim would show as a start.
for queues in naps,others others,naps naps,others others,naps; do
    CULEX_URL="$whole?user=half&password=pw" worker_start half --queues "$queues" --isolation none
    worker_expect 1
    log_has half 'NOPERM'
    ! grep -q 'left behind' "$scratch/half.log" || fail 'a handler was abandoned'
    ! started half 1 || fail "$queues: a run was started"
    expect "after $queues" 'waiting attempt 0 losses 0 failures 0 crashes 0' "$("$nap" state)"
done

# With all rights it serves both.
worker_start whole --queues naps,others --drain
worker_expect 0
expect 'in the end' 'done attempt 1 losses 0 failures 0 crashes 0' "$("$nap" state)"
