#!/bin/sh
# A worker is killed mid-run: nothing of it is left, another one runs it again once the lease is
# over, and a restart under the same name at once.
. "$(dirname "$0")/lib.sh"
store_start
"$nap" enqueue nap
worker_start first --lease 3s --queues naps
wait_until 10 started first 1
family=$(descendants "$background")
[ -n "$family" ] || fail 'no process for handlers'
kill -KILL "$background"
wait "$background" 2>/dev/null || true
background=
# shellcheck disable=SC2086
wait_until 5 all_gone $family
expect 'still held by the dead worker' 'active attempt 1 losses 0 failures 0 crashes 0' "$("$nap" state)"

"$nap" --drain >"$scratch/second" 2>"$scratch/second.log"
started second 2 || fail "the second worker did not run it: $(cat "$scratch/second" "$scratch/second.log")"
expect 'done once, one loss' 'done attempt 2 losses 1 failures 0 crashes 0' "$("$nap" state)"

# A restart under the same name need not wait for the lease.
"$nap" enqueue nap
worker_start third --lease 60s --name fixed
wait_until 10 started third 1
family=$(descendants "$background")
kill -KILL "$background"
wait "$background" 2>/dev/null || true
background=
before=$(date +%s%3N)
timeout 20 "$nap" --lease 60s --name fixed --drain >"$scratch/fourth" 2>/dev/null ||
    fail 'a restart under the same name waits for the lease'
started fourth 2 || fail 'the restarted worker did not run it'
after=$(sed -n 's/^start 2 [0-9]* \([0-9]*\)$/\1/p' "$scratch/fourth")
echo "taken over by the restarted worker after $((after - before)) ms"
# shellcheck disable=SC2086
wait_until 5 all_gone $family
