#!/bin/sh
# Every line of a JSON log parses, is one line whatever the texts hold, and has as members what
# programs look for. usage: log.sh REPOSITORY BUILD PYTHON
. "$(dirname "$0")/lib.sh"
python=$3
store=sqlite
store_start
hostile=$(printf 'over\342\200\256ride "quoted" \\ tab\there\nsecond line \302\233 \342\200\250 end')
worker_start json --log-format json --lease 2s --grace 0
log_says() { grep -q "$1" "$scratch/json.log"; }
"$nap" enqueue nap 10
"$nap" enqueue never
"$nap" enqueue crash
"$nap" enqueue gone
"$nap" enqueue tell "$hostile"
wait_until 10 log_says '"outcome":"done"'
wait_until 10 log_says '"outcome":"failed"'
wait_until 10 log_says '"outcome":"crashed"'
wait_until 10 log_says '"job":"gone".*"outcome":"dead"'
wait_until 10 log_says '"job":"tell".*"outcome":"dead"'
wait_until 10 log_says '"job":"crash".*"outcome":"dead"'
"$nap" enqueue nap
naps_begun() { [ "$(grep -c '"job":"nap".*started' "$scratch/json.log")" -ge "$1" ]; }
wait_until 10 naps_begun 2
kill -TERM "$background"
kill -TERM "$background" 2>/dev/null || true
worker_expect 0
"$python" "$(dirname "$0")/log_check.py" "$scratch/json.log"
