#!/bin/sh
# A worker is frozen for longer than its lease while its handler goes on. A handler that ended in
# time has a result, which the store refuses; one that did not is killed at the end of the lease.
. "$(dirname "$0")/lib.sh"
store_start
# It is frozen well before its handler ends, and that is well before the end of its lease: on a busy
# machine too.
"$nap" enqueue nap 2500
worker_start frozen --lease 7s
wait_until 60 started frozen 1
freeze "$background"
frozen=$background
"$nap" --lease 7s --drain >"$scratch/other" 2>/dev/null
started other 2 || fail 'nobody took over'
kill -CONT "$frozen"
wait_until 60 grep -q 'result refused: the lease is over' "$scratch/frozen.log"
expect counts 'stale 1 lost 1 crashed 0' "$("$nap" stats)"

"$nap" enqueue ox
twice() { [ "$(grep -c '^start 1 ' "$scratch/frozen")" = 2 ]; }
wait_until 60 twice
child=$(sed -n 's/^start 1 \([0-9]*\) .*/\1/p' "$scratch/frozen" | tail -1)
freeze "$frozen"
# A dead process that its parent has not seen yet is a zombie.
is_dead() { ! grep -q '^State:[[:space:]]*[RSDT]' "/proc/$1/status" 2>/dev/null; }
# Its own process tree ends it, though the supervisor cannot.
wait_until 60 is_dead "$child"
kill -CONT "$frozen"
wait_until 60 grep -q 'lease lost; ' "$scratch/frozen.log"
kill -TERM "$frozen"
worker_expect 0
