#!/bin/sh
# The process that starts handlers is killed: the worker gives back what it holds, says so, and
# ends with 1. What was at work is charged a loss: its handler may have done it.
. "$(dirname "$0")/lib.sh"
store_start
"$nap" enqueue nap
worker_start only --lease 60s
wait_until 10 started only 1
zygote=$(cat /proc/"$background"/task/*/children | cut -d' ' -f1)
family=$(descendants "$background")
kill -KILL "$zygote"
worker_expect 1
log_has only 'no more runs can be executed'
expect 'given back as a loss' 'waiting attempt 1 losses 1 failures 0 crashes 0' "$("$nap" state)"
# shellcheck disable=SC2086
wait_until 5 all_gone $family
