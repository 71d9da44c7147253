#!/bin/sh
# A limit on the size of files (ulimit -f) kills neither a producer nor a worker: what does not fit
# is refused with words, what is queued is worked off, and a log that may not grow loses its lines.
. "$(dirname "$0")/lib.sh"
store_start
limit_mib=9 # the reserve's 8, and some runs
words=$(head -c 100000 /dev/zero | tr '\0' x)

dead_are() { [ "$("$nap" state | grep -c '^dead ')" = "$1" ]; }

# A producer, until a run of its does not fit.
runs=0
code=0
while [ $code = 0 ] && [ $runs -lt 1000 ]; do
    (ulimit -f $((limit_mib * 2048)) && exec "$nap" enqueue tell "$words" 2>"$scratch/refused") || code=$?
    [ $code != 0 ] || runs=$((runs + 1))
done
[ $code = 1 ] || fail "the producer ended with status $code, after $runs runs"
grep -q 'jobs.db: the disk is full\|jobs.db.*make room' "$scratch/refused" ||
    { cat "$scratch/refused" >&2; fail 'no word of the room that is missing'; }

# A worker works that off, though its log has reached the limit too.
worker_name=limited
: >"$scratch/limited.log"
truncate -s ${limit_mib}M "$scratch/full"
(ulimit -f $((limit_mib * 2048)) && exec "$nap" >"$scratch/limited" 2>>"$scratch/full") &
background=$!
wait_until 60 dead_are "$runs"
kill -TERM "$background"
worker_expect 0
expect 'size of the log' $((limit_mib * 1048576)) "$(stat -c %s "$scratch/full")"
