#!/bin/sh
# A chain of three jobs in two queues: each picture comes to its end once, and what is none stops where
# that was found.
. "$(dirname "$0")/lib.sh"
example_build thumbnails
store_start
cd "$scratch/bin"
printf 'P2 640 480\n' >a.pgm
printf 'P2 30 20\n' >b.pgm
echo nothing >c.pgm
./enqueue a.pgm b.pgm c.pgm
./worker --drain >"$scratch/list" 2>"$scratch/log"
expect 'the list' 'a.pgm 100 x 75
b.pgm 30 x 20' "$(sort "$scratch/list")"
grep -q 'c.pgm is no picture' "$scratch/log" || fail "$(cat "$scratch/log")"
# The same by threads.
./enqueue a.pgm
./worker --drain --isolation none >"$scratch/list" 2>"$scratch/log"
expect 'once more' 'a.pgm 100 x 75' "$(cat "$scratch/list")"
