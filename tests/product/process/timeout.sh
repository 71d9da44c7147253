#!/bin/sh
# A handler that heeds nothing is killed after its timeout, counted as a failure; an extension
# moves the timeout.
. "$(dirname "$0")/lib.sh"
store_start

# On a busy machine the timeout may be over before the handler begins: then the run is given back,
# uncharged, and its next attempt counts.
states() { "$nap" state | sed 's/attempt [0-9]*/attempt N/'; }

"$nap" enqueue mule
worker_start only --drain
worker_expect 0
expect state 'dead attempt N losses 0 failures 1 crashes 0' "$(states)"
text_has '^timed out after 500ms; .*SIGKILL'
all_gone $(pid_of_start only '[0-9]*') || fail 'its process lives'

"$nap" enqueue mule 2000
before=$(date +%s%3N)
worker_start longer --drain --lease 2s
worker_expect 0
after=$(date +%s%3N)
[ $((after - before)) -ge 3900 ] || fail "killed after $((after - before)) ms in spite of 2000 ms more"
expect 'both states' 'dead attempt N losses 0 failures 1 crashes 0
dead attempt N losses 0 failures 1 crashes 0' "$(states)"
