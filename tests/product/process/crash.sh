#!/bin/sh
# Handlers that crash: the run alone fails, is dead after three in a row, and its text tells why.
. "$(dirname "$0")/lib.sh"
store_start
"$nap" enqueue crash
"$nap" enqueue nap 1
worker_start only --drain --concurrency 1
worker_expect 0
expect states 'done attempt 1 losses 0 failures 0 crashes 0
dead attempt 3 losses 0 failures 0 crashes 3' "$("$nap" state)"
text_has '^crashed 3 times in a row: .*SIGSEGV'
expect 'lines that tell of a crash' 2 "$(grep -c ' warn  crash .* crashed: .*SIGSEGV.*; next at ' "$scratch/only.log")"
log_has only ' error crash .* dead: crashed 3 times in a row: '
log_has only '1 done, 0 failed, 3 crashed (1 dead)'
expect counts 'stale 0 lost 0 crashed 3' "$("$nap" stats)"

# A handler that takes too much memory is refused it or dies alone, and says which.
"$nap" enqueue bomb
worker_start bomb --drain
worker_expect 0
[ "$("$nap" state | grep -c '^dead ')" = 2 ] || fail "$("$nap" state)"
text_has 'no more than [0-9]* MiB\|^crashed.*'
