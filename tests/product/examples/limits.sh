#!/bin/sh
# Two tenants share a worker: none has two pages at work, the one with few is not behind the one with
# many, and a warning is given once.
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
# The window is not over, though the warning is done.
./enqueue warn acme 'again' | grep -q ' warned already$' || fail 'the window ended with the run'
