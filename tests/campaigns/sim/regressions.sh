#!/bin/sh
# regressions.sh SIM LIST - runs every seed of the list: STORE SEED WORLD-STEPS # what it found
set -eu
sed 's/#.*//' "$2" | while read -r store seed steps; do
    [ -n "$store" ] || continue
    "$1" --store "$store" --seed "$seed" --world-steps "$steps" >/dev/null ||
        { echo "seed $seed of $store fails again" >&2; exit 1; }
done
