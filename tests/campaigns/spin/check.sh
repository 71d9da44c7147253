#!/bin/sh
# Checks a model exhaustively: check.sh MODEL.pml MACRO safe|broken
# "safe": no interleaving breaks the claim. "broken": the checker must find one, or it checks nothing.
set -eu
model=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cp "$model" model.pml
spin "-D$2" -a model.pml >log 2>&1 || { cat log; exit 1; }
cc -O2 -DMEMLIM=4000 -o pan pan.c 2>>log || { cat log; exit 1; }
./pan -a -N safe -m200000 >log 2>&1 || { cat log; exit 1; }
errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' log)
grep -E 'errors:|states, stored' log
! grep -q 'max search depth too small' log
case $3 in
safe) [ "$errors" = 0 ] ;;
broken) [ "$errors" -gt 0 ] ;;
esac
