#!/bin/sh
# Workers are listed in their store with what they do, take orders from there, and are gone from the
# list when they end; one that is killed a while after its last word.
. "$(dirname "$0")/lib.sh"
store_start
line_is() { "$nap" workers | grep -q "$1"; }
told() { "$nap" workers | sed -n 's/^one .* told \([0-9]*\) .*/\1/p'; }
told_since() { [ "$(told)" -gt "$1" ]; }
nobody_is() { [ -z "$("$nap" workers)" ]; }
starts_are() { [ "$(grep -c '^start 1 ' "$scratch/$1")" = "$2" ]; }
refused() {
    words=$1
    shift
    ! "$nap" order "$@" >"$scratch/refused" 2>&1 || fail "order $* was taken"
    grep -q "$words" "$scratch/refused" || fail "order $*: $(cat "$scratch/refused")"
}
nobody_is || fail 'somebody is listed before anybody was started'
expect 'an order to nobody' 'for 0' "$("$nap" order stop)"

worker_start one --name one --concurrency 3 --queues naps --isolation none
wait_until 20 line_is '^one concurrency 3 of 3 quiet 0 stopping 0 pending 0 done 0 failed 0 runs 0 queues 1 '
id=$("$nap" workers | sed -n 's/^one .* //p')
"$nap" enqueue wink 1
"$nap" enqueue never
"$nap" enqueue nap 600000
wait_until 20 line_is '^one .* done 1 failed [1-9].* runs 1 '
line_is '^run nap in naps$' || fail "the run is not listed: $("$nap" workers)"
! line_is 'something is missing' || fail "$("$nap" workers)"

# Quiet: what is there goes on, and nothing more begins.
before=$(date +%s%3N)
expect quiet 'for 1' "$("$nap" order on "$id")"
wait_until 20 line_is '^one .* quiet 1 stopping 0 pending 0 .* runs 1 '
echo "taken up and told after $(($(date +%s%3N) - before)) ms"
starts=$(grep -c '^start 1 ' "$scratch/one")
"$nap" enqueue wink 1
"$nap" enqueue wink 1
one=$background
worker_start two --name two --concurrency 1 --queues naps --unlisted --isolation none
wait_until 20 starts_are two 2
! line_is '^two ' || fail 'an unlisted worker is listed'
starts_are one "$starts" || fail 'a quiet worker has begun a run'
kill -TERM "$background"
wait "$background" || true
background=$one

# Again, with one run at a time beside the one that is there: none, then two.
"$nap" order 1 "$id" >/dev/null
wait_until 20 line_is '^one concurrency 1 of 3 quiet 1 stopping 0 pending 0 '
"$nap" order off "$id" >/dev/null
wait_until 20 line_is '^one concurrency 1 of 3 quiet 0 stopping 0 pending 0 '
starts=$(grep -c '^start 1 ' "$scratch/one")
"$nap" enqueue wink 1
# Between two of its words it has had 2.5 s to begin the run, from the moment on at which that came.
for word in first second; do
    last=$(told)
    wait_until 20 told_since "$last"
done
starts_are one "$starts" || fail 'a run was begun beyond the concurrency'
"$nap" order 2 "$id" >/dev/null
wait_until 20 starts_are one $((starts + 1))

refused 'was started for at most 3 runs' 4 "$id"
refused 'concurrency is 1 to 1024' 5000 "$id"
refused 'leaves the worker as it is: set order.quiet, order.stop or order.concurrency' 0 "$id"
refused "no worker 'abc' is at work" on abc
refused 'hex digits' on 'a b'

# It ends as by SIGTERM, and is gone.
"$nap" cancel
expect stop 'for 1' "$("$nap" order stop)"
worker_expect 0
nobody_is || fail "it is listed after its end: $("$nap" workers)"
refused "no worker '$id' is at work" on "$id"
log_has one 'asked by way of the store to stop'
log_has one 'asked by way of the store to claim nothing more'
