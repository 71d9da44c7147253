#!/bin/sh
# C++: what a lambda returns is the result, and what it throws the reason; both are told to whoever asks.
. "$(dirname "$0")/lib.sh"
command -v "${CXX:-c++}" >/dev/null || { echo 'skipped: no C++ compiler'; exit 77; }
example_build parcels
# What the kit lends is freed once, and by the kit.
if [ "$store" = sqlite ] && command -v valgrind >/dev/null; then
    valgrind -q --error-exitcode=99 "$scratch/bin/parcels_test" >"$scratch/log" 2>&1 ||
        { cat "$scratch/log" >&2; fail 'the test, under valgrind'; }
fi
store_start
cd "$scratch/bin"
ann=$(./parcels pack Ann pen=20 paper=1000)
bob=$(./parcels pack Bob stamp=1)
eve=$(./parcels pack Eve)
lead=$(./parcels pack Dan lead=30001)
! ./parcels pack '' 2>"$scratch/err" || fail 'a parcel for nobody is packed'
grep -q '^parcels: to: ' "$scratch/err" || fail "$(cat "$scratch/err")"
! ./parcels pack Ann stone 2>"$scratch/err" || fail 'a stone without a weight is packed'
expect complaint 'parcels: stone has no weight' "$(cat "$scratch/err")"
expect 'before a worker' 'waiting: ' "$(./parcels label "$ann")"
./worker --drain 2>"$scratch/log" || fail "$(cat "$scratch/log")"
expect Ann 'Ann, 1020 g' "$(./parcels label "$ann")"
expect Bob 'Bob, by air, 1 g' "$(./parcels label "$bob")"
expect Eve 'Eve (nothing in it), 0 g' "$(./parcels label "$eve")"
expect Dan 'dead: threw std::runtime_error: 30001 g are too much for the scales' "$(./parcels label "$lead")"
