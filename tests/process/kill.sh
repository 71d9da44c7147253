#!/bin/sh
# A worker is killed mid-run; another one runs it again once the lease is over.
# usage: kill.sh REPOSITORY BUILD STORE
. "$(dirname "$0")/../examples/lib.sh"
nap=$build/tests/process/nap
store_start
"$nap" enqueue nap
"$nap" --lease 1s --queues naps >"$scratch/first" 2>"$scratch/first.log" &
background=$!
wait_until 10 grep -q '^start 1 ' "$scratch/first"
kill -KILL "$background"
wait "$background" 2>/dev/null || true
background=
expect 'still held by the dead worker' 'active attempt 1 losses 0 failures 0' "$("$nap" state)"

"$nap" --lease 1s --drain >"$scratch/second" 2>"$scratch/second.log"
grep -q '^start 2 ' "$scratch/second" || fail 'the second worker did not run it'
expect 'done once, one loss' 'done attempt 2 losses 1 failures 0' "$("$nap" state)"

# A restart under the same name need not wait for the lease.
"$nap" enqueue nap
"$nap" --lease 60s --name fixed >"$scratch/third" 2>/dev/null &
background=$!
wait_until 10 grep -q '^start 1 ' "$scratch/third"
kill -KILL "$background"
wait "$background" 2>/dev/null || true
background=
timeout 20 "$nap" --lease 60s --name fixed --drain >"$scratch/fourth" 2>/dev/null ||
    fail 'a restart under the same name waits for the lease'
grep -q '^start 2 ' "$scratch/fourth" || fail 'the restarted worker did not run it'
