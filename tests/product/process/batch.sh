#!/bin/sh
# Workers are killed in the middle of a batch, again and again: each of its callbacks comes in once, and
# only when all members have ended.
. "$(dirname "$0")/lib.sh"
store_start
"$nap" batch 200
some_are_done() { [ "$(grep -c '^start ' "$scratch/$1")" -ge 10 ]; }
for round in 1 2 3 4; do
    worker_start "round$round" --lease 1s --concurrency 2
    wait_until 20 some_are_done "round$round"
    family=$(descendants "$background")
    kill -KILL "$background"
    ! wait "$background" 2>/dev/null || fail "a worker that was killed ended well"
    background=
    # shellcheck disable=SC2086
    wait_until 5 all_gone $family
    expect 'no callback before the end' '' "$(grep '^clap' "$scratch/round$round" || true)"
done
timeout 60 "$nap" --lease 1s --concurrency 8 --drain >"$scratch/last" 2>"$scratch/last.log" ||
    fail "the last worker: $(cat "$scratch/last.log")"
expect 'one callback of each kind that has come true' 'clap complete 200 of 200
clap success 200 of 200' "$(grep '^clap' "$scratch/last" | sort)"
expect 'no other one came in' 'claps 2 done 2' "$("$nap" claps)"
