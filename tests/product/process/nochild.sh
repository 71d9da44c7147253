#!/bin/sh
# A worker that can start no child process leaves the runs to one that can, says so, and works again
# when it can.
. "$(dirname "$0")/lib.sh"
command -v prlimit >/dev/null || { echo 'skipped: no prlimit'; exit 77; }
store_start

# all_but_one PID: a limit of descriptors under which it can open one more, and a channel takes two.
all_but_one() {
    number=0
    until [ ! -L "/proc/$1/fd/$number" ]; do number=$((number + 1)); done
    echo $((number + 1))
}
sick_says() { grep -q "$1" "$scratch/sick.log" 2>/dev/null; }

worker_start sick --concurrency 2 --grace 100ms
wait_until 10 sick_says ' serves '
hard=$(prlimit --pid "$background" --nofile --noheadings --output HARD | tr -d ' ')
soft=$(prlimit --pid "$background" --nofile --noheadings --output SOFT | tr -d ' ')
prlimit --pid "$background" --nofile="$(all_but_one "$background"):$hard"
for run in 1 2 3 4 5 6 7 8 9 10; do
    "$nap" enqueue nap 1
done
wait_until 10 sick_says 'given back: cannot start a child process: no channel'

"$nap" --drain >/dev/null 2>&1
expect 'done' 10 "$("$nap" state | grep -c '^done attempt [12] losses 0 failures 0 crashes 0$')"
more=$("$nap" state | awk '/attempt 2/ { more++ } END { print more + 0 }')
[ "$more" -le 2 ] || fail "$more runs were claimed by a worker of two handlers that had none"
expect 'lines about it' 1 "$(grep -c 'cannot start a child process, trying again' "$scratch/sick.log")"

prlimit --pid "$background" --nofile="$soft:$hard"
wait_until 10 sick_says 'child processes can be started again'
"$nap" enqueue nap 60000
wait_until 10 started sick 1
worker_stop sick 0
