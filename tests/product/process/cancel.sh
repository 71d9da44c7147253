#!/bin/sh
# A cancelled run whose handler heeds nothing: flag, SIGTERM, SIGKILL, and it is cancelled.
. "$(dirname "$0")/lib.sh"
store_start
"$nap" enqueue ox
worker_start only --lease 900ms --drain
wait_until 10 started only 1
"$nap" cancel
wait_until 10 grep -q 'cancellation requested' "$scratch/only.log"
worker_expect 0
expect state 'cancelled attempt 1 losses 0 failures 0 crashes 0' "$("$nap" state)"
all_gone "$(pid_of_start only 1)" || fail 'its process lives'

# One that heeds its flag returns by itself.
"$nap" enqueue nap
worker_start heeding --lease 900ms --drain
wait_until 10 started heeding 1
"$nap" cancel
worker_expect 0
expect states 'cancelled attempt 1 losses 0 failures 0 crashes 0
cancelled attempt 1 losses 0 failures 1 crashes 0' "$("$nap" state | sort)"
