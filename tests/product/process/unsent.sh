#!/bin/sh
# The store stops answering, and then the worker is asked to stop: it ends in time all the same, and
# its exit code tells that results are unsent.
. "$(dirname "$0")/lib.sh"
store_start
holder=

store_freeze() {
    if [ "$store" = redis ]; then
        kill -STOP "$server"
    else
        rm -f "$scratch/held"
        python3 -c 'import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
time.sleep(300)' "$scratch/jobs.db" >"$scratch/held" &
        holder=$!
        wait_until 10 grep -qs held "$scratch/held"
    fi
}

store_thaw() {
    if [ "$store" = redis ]; then kill -CONT "$server"; else kill "$holder"; fi
}
trap 'store_thaw 2>/dev/null || :; cleanup' EXIT

patience='--lease 10m --store-timeout 60s'

stop_expect() {
    worker_stop "$1" 3
    log_has "$1" 'could not be recorded'
}

# A handler that heeds its flag.
"$nap" enqueue nap 60000
worker_start heeds --grace 1s --name heeds $patience
wait_until 10 started heeds 1
store_freeze
stop_expect heeds
store_thaw

# One that must be killed, while a call to the store is under way: the result of another run.
"$nap" --name heeds --drain >/dev/null 2>&1
"$nap" enqueue ox
"$nap" enqueue look
export NAP_PROGRAM="until test -e '$scratch/go'; do sleep 0.05; done; touch '$scratch/gone'"
worker_start deaf --grace 0 --name deaf --concurrency 2 $patience
wait_until 10 grep -q 'ox .* started' "$scratch/deaf.log"
wait_until 10 grep -q 'look .* started' "$scratch/deaf.log"
store_freeze
touch "$scratch/go"
wait_until 10 test -e "$scratch/gone"
stop_expect deaf
store_thaw

# On a thread, one that calls the store itself, and is not told of its flag while it does.
"$nap" --name deaf --drain >/dev/null 2>&1
"$nap" enqueue ask
worker_start asks --isolation none --grace 500ms --name asks $patience
wait_until 10 started asks 1
store_freeze
stop_expect asks
store_thaw
