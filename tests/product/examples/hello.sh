#!/bin/sh
# The first example: two enqueues, one drain, two greetings.
. "$(dirname "$0")/lib.sh"
example_build hello
store_start
cd "$scratch/bin"
./enqueue
./enqueue Ann
expect greetings 'Hello, world!
Hello, Ann!' "$(./worker --drain --concurrency 1 2>"$scratch/log")"
grep -q 'done' "$scratch/log" || fail 'no log line says done'
expect 'nothing is left' '' "$(./worker --drain 2>/dev/null)"
