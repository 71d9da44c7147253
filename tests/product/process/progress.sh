#!/bin/sh
# What a handler reports last, just before its end, stands in the run's record, however many reports
# came before it.
. "$(dirname "$0")/lib.sh"
store_start
runs=
for isolation in process none; do
    # A crash would take the worker along that runs handlers on threads.
    [ "$isolation" = none ] && hows='done fails' || hows='done fails crashes'
    for how in $hows; do
        for last in 1 5000; do
            "$nap" enqueue count "$last" "$how"
            runs="$runs$last of $last
"
        done
    done
    "$nap" --drain --isolation "$isolation" 2>"$scratch/log" || fail "$(cat "$scratch/log")"
    expect "last words under $isolation" "$(printf '%s' "$runs" | sed 's/^/100 /' | sort)" \
        "$("$nap" progress | sort)"
done
