#!/bin/sh
# One of two workers on a host is started again, by the book and after a kill: what the other one has at
# work goes on, and no run of it begins a second time.
. "$(dirname "$0")/lib.sh"
store_start
unset CULEX_NAME
export XDG_RUNTIME_DIR="$scratch/run"
mkdir -m 700 "$XDG_RUNTIME_DIR"

starts() { grep -c '^start ' "$scratch/$1" || true; }
starts_are() { [ "$(starts "$1")" = "$2" ]; }
listed_are() { [ "$("$nap" workers | grep -c ' concurrency ')" = "$1" ]; }
runs_are() { [ "$("$nap" state | grep -cx "$2")" = "$1" ]; }

# pair_start LENGTH: two workers, each with two runs at work.
pair_start() {
    for name in stays leaves; do
        "$nap" enqueue wink "$1"
        "$nap" enqueue wink "$1"
        worker_start "$name" --queues naps --concurrency 2 --grace 30s
        wait_until 10 starts_are "$name" 2
        [ "$name" = leaves ] || stays=$background
    done
}

# pair_end: the one that stayed has begun its own two, once each.
pair_end() {
    kill -TERM "$background"
    worker_expect 0
    background=$stays
    kill -TERM "$background"
    worker_expect 0
    expect "$1: starts by the worker that stayed" 2 "$(starts stays)"
    expect "$1: of them again" 0 "$(grep -vc '^start 1 ' "$scratch/stays" || true)"
}

pair_start 2000
kill -TERM "$background"
worker_expect 0
worker_start again --queues naps --concurrency 2
wait_until 10 listed_are 2
wait_until 30 runs_are 4 'done attempt 1 losses 0 failures 0 crashes 0'
expect 'started by who came again' 0 "$(starts again)"
pair_end 'by the book'

# Those of the killed one are lost once, and begin again; by whom of the two does not matter. The one that stays
# has no handler free for them, for its own go on until they have ended elsewhere.
: >"$scratch/again"
pair_start 8000
kill -KILL "$background"
wait "$background" 2>/dev/null || true
worker_start again --queues naps --concurrency 2
wait_until 30 starts_are again 2
wait_until 60 runs_are 2 'done attempt 2 losses 1 failures 0 crashes 0'
wait_until 60 runs_are 6 'done attempt 1 losses 0 failures 0 crashes 0'
pair_end 'after a kill'
