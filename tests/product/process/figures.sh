#!/bin/sh
# A worker tells its store how its runs have ended, how long they waited and took: all of it by its own
# end, once a second before, and nothing when it is told not to.
. "$(dirname "$0")/lib.sh"
store_start
figures_are() { [ "$("$nap" figures)" = "$1" ]; }
expect 'figures of nothing' '' "$("$nap" figures)"

"$nap" crowd 40 >"$scratch/ids"
"$nap" enqueue count 1 done
"$nap" enqueue count 1 fails
"$nap" enqueue count 1 crashes
"$nap" --drain --concurrency 8 --isolation process 2>"$scratch/log" || fail "$(cat "$scratch/log")"
ended='count done 1 failed 1 crashed 1 dead 2 waited 3 ran 3 short
wink done 40 failed 0 crashed 0 dead 0 waited 40 ran 40'
expect 'figures of a drain' "$ended" "$("$nap" figures)"

"$nap" enqueue wink 30
"$nap" --drain --uncounted --isolation none 2>"$scratch/log" || fail "$(cat "$scratch/log")"
expect 'figures of a worker that tells none' "$ended" "$("$nap" figures)"

# While it goes on.
worker_start one --isolation none
"$nap" enqueue wink 30
wait_until 20 figures_are 'count done 1 failed 1 crashed 1 dead 2 waited 3 ran 3 short
wink done 41 failed 0 crashed 0 dead 0 waited 41 ran 41'
kill -TERM "$background"
worker_expect 0
