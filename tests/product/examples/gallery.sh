#!/bin/sh
# A follow-up from a handler goes to the store that the worker was told of on its command line.
. "$(dirname "$0")/lib.sh"
example_build gallery
store_start
cd "$scratch/bin"
url=$CULEX_URL
printf '%64s' '' >"$scratch/a.png"
./upload ann "$scratch/a.png" "$scratch/none.png"
unset CULEX_URL
./worker --url "$url" --drain 2>"$scratch/log" || fail "$(cat "$scratch/log")"
expect 'who was told' "to ann: $scratch/a.png.small is ready" "$(cat outbox)"
[ ! -e culex.db ] || fail 'a second store came into being'
expect 'size of the small picture' 16 "$(wc -c <"$scratch/a.png.small")"

# Without its outbox no child can be set up: that is said, and no run pays for it.
rm outbox
mkdir outbox
CULEX_URL=$url ./upload bob "$scratch/a.png"
./worker --url "$url" --drain 2>"$scratch/log" &
background=$!
wait_until 10 grep -q 'set-up of its process failed: outbox: Is a directory' "$scratch/log"
rmdir outbox
wait "$background" || fail "$(cat "$scratch/log")"
background=
expect 'who was told then' "to bob: $scratch/a.png.small is ready" "$(cat outbox)"
