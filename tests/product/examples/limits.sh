#!/bin/sh
# Two tenants share a worker: none has two pages at work, the one with few is not behind the one with
# many, and a warning is given once. What needs a graphics card waits for a worker that offers one.
. "$(dirname "$0")/lib.sh"
example_build limits
store_start
cd "$scratch/bin"
./enqueue pages acme 60
./enqueue pages bolt 3
./enqueue warn acme 'little space is left' >"$scratch/first"
./enqueue warn acme 'none is left' >"$scratch/second"
grep -q ' new$' "$scratch/first" || fail "$(cat "$scratch/first")"
expect 'the run that is there' "$(cut -d' ' -f1 "$scratch/first") warned already" "$(cat "$scratch/second")"
./worker --drain --concurrency 8 2>"$scratch/log"
grep -o '\(acme\|bolt\): .*' "$scratch/log" >"$scratch/said"
expect 'pages' 63 "$(grep -c 'page [0-9]* ends' "$scratch/said")"
expect 'warnings' 1 "$(grep -c 'space is left' "$scratch/said")"
grep -q 'none is left' "$scratch/said" && fail 'warned twice'
for tenant in acme bolt; do
    grep "^$tenant: page" "$scratch/said" | awk '
        / begins$/ { if (++active > 1) exit 1 }
        / ends$/ { active-- }' || fail "two pages of $tenant at a time"
done
# As long as one of each is at work at a time, bolt's last page ends when acme has had about three.
before=$(sed '/^bolt: page 3 ends/q' "$scratch/said" | grep -c '^acme: page [0-9]* ends')
[ "$before" -le 25 ] || fail "bolt waited for $before pages of acme"
# Pages go on beside previews that nobody draws, and two cards draw two at a time.
for tenant in acme bolt acme bolt acme; do ./enqueue previews $tenant; done
./enqueue pages bolt 2
: >"$scratch/log" # or what the worker before has said is found, and this one stopped before it is one
./worker --concurrency 8 2>"$scratch/log" &
background=$!
wait_until 10 grep -q 'bolt: page 2 ends' "$scratch/log"
kill -TERM "$background"
wait "$background"
background=
grep -q 'job shop.draw_previews needs gpu:1, and this worker offers nothing' "$scratch/log" || fail 'no warning'
grep -q 'previews begin' "$scratch/log" && fail 'drawn without a card'
# A drain is over when only these are left, and says so.
./worker --drain --concurrency 8 2>"$scratch/log" && fail 'a drain without a card drew all' || left=$?
expect 'the exit status' 5 "$left"
grep -q 'nothing is left but 5 runs that this worker lacks the offers for, of job shop.draw_previews' "$scratch/log" ||
    fail "$(tail -1 "$scratch/log")"
./worker --drain --concurrency 8 --offer gpu=2 2>"$scratch/log"
grep -o 'previews \(begin\|end\)' "$scratch/log" >"$scratch/said"
expect 'previews' 5 "$(grep -c end "$scratch/said")"
awk '/begin/ { if (++active > 2) exit 1 } /end/ { active-- }' "$scratch/said" || fail 'three previews on two cards'
# The window is not over, though the warning is done.
./enqueue warn acme 'again' | grep -q ' warned already$' || fail 'the window ended with the run'
