#!/bin/sh
# Eight programs enqueue 100,000 runs at once, one by one and together: no two runs have one id, and all are there.
. "$(dirname "$0")/lib.sh"
store_start

producers=
for each in 1 2 3 4 5 6 7 8; do
    "$nap" crowd 12500 >"$scratch/ids.$each" &
    producers="$producers $!"
done
for each in $producers; do
    wait "$each" || fail "a producer ended with $?"
done
expect 'ids that were told' 100000 "$(cat "$scratch"/ids.* | wc -l)"
expect 'ids that are different' 100000 "$(sort -u "$scratch"/ids.* | wc -l)"
expect 'runs that are there' 100000 "$("$nap" state | grep -c '^waiting attempt 0 ')"
