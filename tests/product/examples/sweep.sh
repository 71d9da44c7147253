#!/bin/sh
# A periodic job: old carts go, young ones stay, two workers share the work, TERM ends them.
. "$(dirname "$0")/lib.sh"
example_build sweep
store_start
cd "$scratch/bin"
mkdir "$scratch/carts"
export SWEEP_DIR="$scratch/carts"
touch -d '5 minutes ago' "$SWEEP_DIR/old"
touch "$SWEEP_DIR/young"
./worker 2>"$scratch/log" &
background=$!
wait_until 10 test ! -e "$SWEEP_DIR/old"
[ -e "$SWEEP_DIR/young" ] || fail 'a young cart was swept'
touch -d '5 minutes ago' "$SWEEP_DIR/older"
wait_until 10 test ! -e "$SWEEP_DIR/older"
kill -TERM "$background"
status=0
wait "$background" || status=$?
background=
expect 'exit code after TERM' 0 "$status"
grep -q 'swept 1 carts' "$scratch/log" || fail 'no log line of the handler'
status=0
env -u SWEEP_DIR ./worker 2>/dev/null || status=$?
expect 'exit code without SWEEP_DIR' 2 "$status"
