#!/bin/sh
# Runs that take their worker along, before 20 good ones, and workers that are started again and
# again under one name: the run is dead after ten losses, and no good one is charged more than
# once for having stood beside it.
. "$(dirname "$0")/lib.sh"

# work OPTION...: lives of a worker until one drains the queue.
work() {
    lives=0
    until timeout 30 "$nap" --name fixed --drain --lease 60s "$@" >>"$scratch/out" 2>>"$scratch/log"; do
        lives=$((lives + 1))
        [ "$lives" -lt 40 ] || { "$nap" state >&2; fail "no end after $lives lives"; }
    done
}

# poisoned JOB OPTION...
poisoned() {
    job=$1
    scenes=$((scenes + 1))
    shift
    "$nap" enqueue "$job"
    i=0
    while [ "$i" -lt 20 ]; do
        "$nap" enqueue wink
        i=$((i + 1))
    done
    work "$@"
    "$nap" state >"$scratch/state"
    expect "$job: dead of ten losses" "$scenes" "$(grep -c '^dead attempt [0-9]* losses 10 failures 0 crashes 0$' "$scratch/state")"
    expect "$job: the good ones done" "$((20 * scenes))" "$(grep -c '^done attempt [0-9]* losses [0-2] failures 0 crashes 0$' "$scratch/state")"
}

store_start
scenes=0
# Here the handler is a thread of the worker.
NAP_ALONE=1 poisoned poison --isolation none --concurrency 1
expect 'nobody stood beside it' 20 "$(grep -c '^done attempt [0-9]* losses 0 ' "$scratch/state")"
NAP_ALONE=1 poisoned poison --isolation none --concurrency 2
poisoned poison --concurrency 2
poisoned viper --concurrency 2
