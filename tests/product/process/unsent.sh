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
time.sleep(60)' "$scratch/jobs.db" >"$scratch/held" &
        holder=$!
        wait_until 10 grep -qs held "$scratch/held"
    fi
}

store_thaw() {
    if [ "$store" = redis ]; then kill -CONT "$server"; else kill "$holder"; fi
}
trap 'store_thaw 2>/dev/null; cleanup' EXIT

now_ms() { date +%s%3N; }

# stop_expect NAME LATEST: asks the worker to stop and expects its end after at most LATEST ms.
stop_expect() {
    begin=$(now_ms)
    kill -TERM "$background"
    worker_expect 3
    spent=$(($(now_ms) - begin))
    [ "$spent" -le "$2" ] || fail "$1 took $spent ms to stop, not $2"
    log_has "$1" 'could not be recorded'
}

# A handler that heeds its flag: grace and 2 s; and half a second for slow machines.
"$nap" enqueue nap 60000
worker_start heeds --grace 1s --name heeds
wait_until 10 started heeds 1
store_freeze
stop_expect heeds 3500
store_thaw

# One that must be killed, while a call to the store is under way.
"$nap" --name heeds --drain >/dev/null 2>&1
"$nap" enqueue ox
worker_start deaf --grace 0 --name deaf --lease 9s --store-timeout 1500ms
wait_until 10 started deaf 1
store_freeze
wait_until 10 grep -q trouble "$scratch/deaf.log"
stop_expect deaf 2500
store_thaw

# On a thread, one that calls the store itself, and is not told of its flag while it does.
"$nap" --name deaf --drain >/dev/null 2>&1
"$nap" enqueue ask
worker_start asks --isolation none --grace 500ms --name asks --lease 60s --store-timeout 20s
wait_until 10 started asks 1
store_freeze
stop_expect asks 3000
store_thaw
