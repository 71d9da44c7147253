#!/bin/sh
# What a job keeps from run to run: each line of a file is taken once, by whichever run and worker; it
# outlives them, can be read without a run, and is gone when it is forgotten.
. "$(dirname "$0")/lib.sh"
example_build feed
store_start
cd "$scratch/bin"
total() {
    grep -o 'took [0-9]* entries' "$scratch/log" | awk '{ sum += $2 } END { print sum + 0 }'
}
printf 'one\ntwo\n' >"$scratch/feed"
./enqueue "$scratch/feed"
expect 'at first' "0 entries, the newest is ''" "$(./show)"
./worker --drain 2>"$scratch/log"
expect 'after a run' "2 entries, the newest is 'two'" "$(./show)"
expect 'taken' 2 "$(total)"
# Of another worker, whose handlers are threads.
echo three >>"$scratch/feed"
./enqueue "$scratch/feed"
./worker --drain --isolation none 2>"$scratch/log"
expect 'taken by the next worker' 1 "$(total)"
expect 'then' "3 entries, the newest is 'three'" "$(./show)"
# Many at once: whoever is not the first begins anew, so no line is taken twice.
for line in 4 5 6 7; do
    echo "$line" >>"$scratch/feed"
    for run in 1 2 3 4 5 6; do ./enqueue "$scratch/feed"; done
done
./worker --drain --concurrency 8 2>"$scratch/log"
expect 'taken by many' 4 "$(total)"
grep -q ' 24 done, 0 failed' "$scratch/log" || fail "$(tail -1 "$scratch/log")"
expect 'at last' "7 entries, the newest is '7'" "$(./show)"
./show --forget
expect 'forgotten' "0 entries, the newest is ''" "$(./show)"
