#!/bin/sh
# SIGTERM, a second SIGTERM, and what they do to handlers that do not end.
. "$(dirname "$0")/lib.sh"
store_start

# The grace period lets a handler finish.
"$nap" enqueue nap 500
worker_start patient --grace 30s
wait_until 10 started patient 1
kill -TERM "$background"
worker_expect 0
expect 'finished within the grace' 'done attempt 1 losses 0 failures 0 crashes 0' "$("$nap" state)"

# After it, SIGTERM and SIGKILL, uncharged.
"$nap" enqueue ox
worker_start short --grace 100ms
wait_until 10 started short 1
family=$(descendants "$background")
kill -TERM "$background"
worker_expect 0
"$nap" state | grep -qx 'waiting attempt 1 losses 0 failures 0 crashes 0' || fail "$("$nap" state)"
log_has short 'given back: shutdown'
# shellcheck disable=SC2086
all_gone $family || fail 'a process of the worker is left'

# The next worker runs it; a second SIGTERM would skip an hour of grace.
"$nap" --drain >/dev/null 2>&1
"$nap" enqueue ox
worker_start twice --grace 1h
wait_until 10 started twice 1
kill -TERM "$background"
wait_until 10 grep -q 'stopping: 1 runs' "$scratch/twice.log"
kill -TERM "$background"
worker_expect 0
"$nap" state | grep -qx 'waiting attempt 1 losses 0 failures 0 crashes 0' || fail "$("$nap" state)"
