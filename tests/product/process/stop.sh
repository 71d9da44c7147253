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

# A handler that ends as it is asked to, and says so, is charged nothing either, however often.
clerk_stop() {
    worker_start "$1-$2" --isolation "$1" --grace 1ms
    wait_until 10 started "$1-$2" "$2"
    kill -TERM "$background"
    worker_expect 0
    log_has "$1-$2" 'given back: shutdown; asked to stop'
}
"$nap" --drain >/dev/null 2>&1
clerks=0
for isolation in process job none; do
    [ "$isolation" != none ] || export NAP_ALONE=1
    clerks=$((clerks + 1))
    "$nap" enqueue clerk
    for attempt in 1 2 3; do
        clerk_stop "$isolation" "$attempt"
    done
    "$nap" --isolation "$isolation" --drain >/dev/null 2>&1
    expect 'clerks that have ended well' "$clerks" \
        "$("$nap" state | grep -cx 'done attempt 4 losses 0 failures 0 crashes 0')"
done
