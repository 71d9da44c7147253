#!/bin/sh
# determinism.sh SIM STORE - the same seeds twice, alone and in company, leave the same traces, and
# nothing of the machine below them is asked for: not how much memory is in use, which the second
# time is more, as all that is allocated is written to.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_RUNTIME_DIR="$folder"
first=$(MALLOC_PERTURB_=0 "$1" --store "$2" --seed 40 --seeds 6 --hash | grep '^seed')
second=$(MALLOC_PERTURB_=85 "$1" --store "$2" --seed 40 --seeds 6 --hash | grep '^seed')
alone=$("$1" --store "$2" --seed 45 --hash | grep '^seed')
[ "$first" = "$second" ] || { echo "the same seeds took another course" >&2; exit 1; }
[ "$(echo "$first" | tail -n 1)" = "$alone" ] ||
    { echo "a seed depends on those before it" >&2; exit 1; }
[ "$(echo "$first" | sed 's/.*hash //' | sort -u | wc -l)" = 6 ] ||
    { echo "different seeds took the same course" >&2; exit 1; }
[ ! -e "$folder/culex" ] || { echo "a simulated worker looked for neighbours on this machine" >&2; exit 1; }
