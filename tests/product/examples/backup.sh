#!/bin/sh
# Each check comes in behind its copy; where there is no copy, that is told in its place.
. "$(dirname "$0")/lib.sh"
example_build backup
store_start
cd "$scratch/bin"
echo one >a
echo two >b
./enqueue a a.copy b b.copy missing missing.copy
./worker --drain >"$scratch/list" 2>"$scratch/log"
expect 'what is told' 'a is safe
b is safe
missing has no copy' "$(sort "$scratch/list")"
