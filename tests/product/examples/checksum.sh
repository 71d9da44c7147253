#!/bin/sh
# The demo, on a small tree with awkward names.
. "$(dirname "$0")/lib.sh"
store_start
prefix_install
mkdir -p "$scratch/tree/a b/c"
printf 'one' >"$scratch/tree/a b/c/one"
: >"$scratch/tree/empty"
head -c 200000 /dev/zero >"$scratch/tree/zeros ü"
sh "$repository/examples/checksum/demo.sh" "$prefix" "$scratch/demo" "$scratch/tree" >"$scratch/out" 2>&1 ||
    { cat "$scratch/out" >&2; fail 'the demo failed'; }
grep -q "^done 3, failed attempts 0, dead 0 in this hour and the last$" "$scratch/out" ||
    fail "$(cat "$scratch/out")"
grep -q "^demo: 3 checksums, all equal to sha256sum's" "$scratch/out" || fail "$(cat "$scratch/out")"
