#!/bin/sh
# A worker without a fixed name is killed mid-run: a neighbour on the same machine has its run long
# before the lease ends, and it is not listed any more. One that is stopped keeps its run; one that comes later finds what the dead
# left.
. "$(dirname "$0")/lib.sh"
store_start
unset CULEX_NAME
start_of() { sed -n "s/^start $2 [0-9]* \([0-9]*\)$/\1/p" "$scratch/$1"; }
lifelines() { ls "$XDG_RUNTIME_DIR/culex" 2>/dev/null | wc -l; }
lifelines_are() { [ "$(lifelines)" = "$1" ]; }
listed_are() { [ "$("$nap" workers | grep -c ' concurrency ')" = "$1" ]; }
export XDG_RUNTIME_DIR="$scratch/run"
mkdir -m 700 "$XDG_RUNTIME_DIR"

# kill_now PID: returns the time of it.
kill_now() {
    before=$(date +%s%3N)
    kill -KILL "$1"
    wait "$1" 2>/dev/null || true
}

for isolation in process none; do
    "$nap" enqueue nap
    worker_start "dying-$isolation" --lease 60s --queues naps --isolation "$isolation"
    dying=$background
    wait_until 10 started "dying-$isolation" 1
    worker_start "near-$isolation" --lease 60s --queues naps --isolation "$isolation"
    near=$background
    wait_until 10 lifelines_are 2
    wait_until 10 listed_are 2
    # It looks at once, and has seen that the other one lives.
    expect 'held by who lives' 'active attempt 1 losses 0 failures 0 crashes 0' "$("$nap" state | grep ^active)"
    kill_now "$dying"
    wait_until 30 started "near-$isolation" 2
    took=$(($(start_of "near-$isolation" 2) - before))
    echo "$isolation: the run of a killed neighbour starts again after $took ms"
    [ "$took" -lt 20000 ] || fail "it took $took ms, the lease has 60000"
    log_has "near-$isolation" 'on this machine has died, 1 of its runs were given back'
    wait_until 10 lifelines_are 1
    listed_are 1 || fail "a dead worker is listed still: $("$nap" workers)"

    # Stopped is not dead.
    "$nap" enqueue ox
    wait_until 10 started "near-$isolation" 1
    freeze "$near"
    worker_start "other-$isolation" --lease 60s --queues naps --isolation "$isolation"
    other=$background
    wait_until 10 lifelines_are 2
    "$nap" enqueue wink 1
    wait_until 10 started "other-$isolation" 1
    ! started "other-$isolation" 2 || fail 'the run of a stopped worker was given to another one'
    lifelines_are 2 || fail 'the file of a stopped worker was taken away'

    # The last one leaves its run to whoever comes.
    kill -TERM "$other"
    worker_expect 0
    lifelines_are 1 || fail 'a worker that ended has left its file'
    kill_now "$near"
    worker_start "later-$isolation" --lease 60s --queues naps --isolation "$isolation"
    wait_until 30 started "later-$isolation" 2
    took=$(($(start_of "later-$isolation" 2) - before))
    echo "$isolation: the next worker that starts there has it after $took ms"
    [ "$took" -lt 20000 ] || fail "it took $took ms, the lease has 60000"
    wait_until 10 listed_are 1
    kill -TERM "$background"
    worker_expect 0
    lifelines_are 0 || fail 'files are left'
done

# A folder that others can enter is not used, and the log says so once; leases go on.
chmod 755 "$XDG_RUNTIME_DIR/culex"
worker_start refused --queues naps --log-level debug
wait_until 10 grep -q 'serves 1 queue' "$scratch/refused.log"
kill -TERM "$background"
worker_expect 0
lifelines_are 0 || fail 'the folder was used'
