#!/bin/sh
# Runs that take their worker along, before good ones, and workers that are started again and again
# under one name: each such run is dead after ten losses, and no good one is charged more than twice
# for having stood beside it, however many of them there are.
. "$(dirname "$0")/lib.sh"

# work OPTION...: lives of a worker until one drains the queue.
work() {
    lives=0
    until timeout 30 "$nap" --name fixed --drain --lease 60s "$@" >>"$scratch/out" 2>>"$scratch/log"; do
        lives=$((lives + 1))
        [ "$lives" -lt 200 ] || { "$nap" state >&2; fail "no end after $lives lives"; }
    done
}

# several COUNT WORD...: enqueues so many of these.
several() {
    left=$1
    shift
    while [ "$left" -gt 0 ]; do
        "$nap" enqueue "$@"
        left=$((left - 1))
    done
}

# ended SCENE: all who were to die have died of losses, and the others have come to their end.
ended() {
    "$nap" state >"$scratch/state"
    expect "$1: dead of ten losses" "$bad" "$(grep -c '^dead attempt [0-9]* losses 10 failures 0 crashes 0$' "$scratch/state")"
    expect "$1: the good ones done" "$good" "$(grep -c '^done attempt [0-9]* losses [0-2] failures 0 crashes 0$' "$scratch/state")"
}

# one JOB OPTION...: before 20 short ones.
one() {
    job=$1
    shift
    several 1 "$job"
    several 20 wink
    bad=$((bad + 1)) good=$((good + 20))
    work "$@"
    ended "$job $*"
}

# many JOB OPTION...: beside two long ones, which are the first suspects, and before ten short ones.
many() {
    job=$1
    shift
    several 2 wink 700
    several 8 "$job"
    several 10 wink
    bad=$((bad + 8)) good=$((good + 12))
    work "$@"
    ended "many a $job $*"
}

store_start
bad=0 good=0
# Here the handler is a thread of the worker.
NAP_ALONE=1 one poison --isolation none --concurrency 1
expect 'nobody stood beside it' 20 "$(grep -c '^done attempt [0-9]* losses 0 ' "$scratch/state")"
NAP_ALONE=1 one poison --isolation none --concurrency 2
one poison --concurrency 2
one viper --concurrency 2
NAP_ALONE=1 many poison --isolation none --concurrency 4
many poison --concurrency 4
