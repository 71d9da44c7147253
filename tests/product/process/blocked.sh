#!/bin/sh
# Nobody reads the worker's log any more: its runs and its end must not wait for that.
. "$(dirname "$0")/lib.sh"
store_start

# A pipe that this shell keeps open, full to its last page.
mkfifo "$scratch/log"
exec 9<>"$scratch/log"
dd if=/dev/zero bs=4096 count=1000 oflag=nonblock of="$scratch/log" 2>/dev/null || true
logged() { dd bs=65536 iflag=nonblock if="$scratch/log" 2>/dev/null | tr -d '\000' >>"$scratch/read" || true; }
reads() { logged; grep -q "$1" "$scratch/read"; }
has_ended() { is_gone "$1" || grep -q '^State:.Z' "/proc/$1/status"; }
all_done() { [ "$("$nap" state | grep -c '^done ')" = "$1" ]; }

for run in 1 2 3 4 5 6 7 8; do "$nap" enqueue nap 0; done
"$nap" --grace 100ms >"$scratch/blocked" 2>"$scratch/log" 9>&- &
background=$!
worker_name=blocked
wait_until 10 all_done 8

# It flows again, and tells what is missing.
logged
"$nap" enqueue nap 0
wait_until 10 reads ' lines of this log were dropped'
wait_until 10 all_done 9

# And it is blocked once more: the worker still ends in time, also when its handler goes on.
dd if=/dev/zero bs=4096 count=1000 oflag=nonblock of="$scratch/log" 2>/dev/null || true
"$nap" enqueue ox
wait_until 10 sh -c "'$nap' state | grep -q '^active'"
kill -TERM "$background"
wait_until 10 has_ended "$background"
worker_expect 0
