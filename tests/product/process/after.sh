#!/bin/sh
# Workers are killed in the middle of runs that others wait for, again and again: each of these comes in
# once, and none before the run that it waits for has begun.
. "$(dirname "$0")/lib.sh"
store_start
"$nap" after 200
some_are_done() { [ "$(grep -c '^start ' "$scratch/$1")" -ge 30 ]; }
for round in 1 2 3; do
    worker_start "round$round" --lease 1s --concurrency 2
    wait_until 20 some_are_done "round$round"
    family=$(descendants "$background")
    kill -KILL "$background"
    ! wait "$background" 2>/dev/null || fail "a worker that was killed ended well"
    background=
    # shellcheck disable=SC2086
    wait_until 5 all_gone $family
done
timeout 60 "$nap" --lease 1s --concurrency 8 --drain >"$scratch/last" 2>"$scratch/last.log" ||
    fail "the last worker: $(cat "$scratch/last.log")"
expect 'each comes in once' 'claps 200 done 200' "$("$nap" claps)"
expect 'all of them' 200 "$(cat "$scratch"/round? "$scratch/last" | grep '^echo' | sort -u | wc -l)"
