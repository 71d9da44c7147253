#!/bin/sh
# Hooks: an enqueue that is refused, a run that is kept from its handler, and all runs in a book.
. "$(dirname "$0")/lib.sh"
example_build audit
store_start
cd "$scratch/bin"
status=0
./order 7 500 2>"$scratch/error" || status=$?
expect 'exit code without a name' 1 "$status"
expect 'why' 'order: the enqueue hook refuses job bank.transfer: who orders this? set ORDERED_BY' \
    "$(cat "$scratch/error")"
ORDERED_BY=clerk ./order 7 500
ORDERED_BY=clerk ./order 8 500000
ORDERED_BY=director ./order 9 500000
ORDERED_BY=director ./order 0 1
expect transfers '500 cents to account 7
500000 cents to account 9' "$(./worker --drain --concurrency 1 2>"$scratch/log" | sort -n)"
expect 'the book' "done: account 7, 500 cents
done: account 9, 500000 cents
refused: account 0, 1 cents: there is no account 0
refused: account 8, 500000 cents: hook 'right' before the run: clerk may not order 500000 cents" "$(sort audit.txt)"
grep -q "dead: hook 'right' before the run: clerk may not order 500000 cents" "$scratch/log" ||
    fail "$(cat "$scratch/log")"
expect 'each was timed' 4 "$(grep -c 'bank.transfer took .* ms' "$scratch/log")"
