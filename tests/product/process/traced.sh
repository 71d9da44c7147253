#!/bin/sh
# A trace goes from an enqueue to the handler and on to what that enqueues, in whatever way, and
# changes nothing else. usage: traced.sh REPOSITORY BUILD STORE
. "$(dirname "$0")/lib.sh"
store_start
spore=$build/tests/product/process/spore
worker=$spore
id=4bf92f3577b34da6a3ce929d0e0e4736
given=00-$id-00f067aa0ba902b7-01
other=00-11112222333344445555666677778888-0123456789abcdef-00

# said NAME HOW: the traces of the runs of that kind, by depth.
said() { grep -E "^spore.[a-z]+ $2 " "$scratch/$1" | sort -k3 | cut -d' ' -f5,6; }
drain() {
    worker_start "$1" --drain --log-level error --isolation "$2"
    worker_expect 0
}

# --- from generation to generation ---
# A worker that writes no spans hands on what it got: nobody is to look for a span that is nowhere.
for isolation in process none job; do
    for how in client follow many all after batch thread life; do
        "$spore" $how "$given" 'rojo=1,"\=2' >/dev/null
    done
    "$spore" plain >/dev/null
    drain "$isolation" "$isolation"
    for how in client follow many all after batch; do
        expect "$isolation, $how" "$(printf '%s rojo=1,"\\=2\n' "$given" "$given" "$given")" "$(said "$isolation" $how)"
    done
    expect "$isolation, a thread that is told no state" "$given rojo=1,\"\\=2
$given -
$given -" "$(said "$isolation" thread)"
    expect "$isolation, the steps of a chain" "$(printf '%s rojo=1,"\\=2\n' "$given" "$given")" "$(said "$isolation" life)"
    expect "$isolation, of no trace" '- -' "$(said "$isolation" plain)"
done

# What it says itself counts.
SPORE_OWN=$other "$spore" client "$given" >/dev/null
drain own process
expect 'what the handler says' "$given -
$other -
$other -" "$(said own client)"

# Every attempt of a run is of its trace.
"$spore" crash "$other" >/dev/null
drain again process
expect 'attempts' "$other -
$other -" "$(said again crash)"

# --- it makes no other run of one ---
a=$("$spore" lone "$given")
expect 'a unique run of another trace' "$a" "$("$spore" lone "$other" 'a=b')"
expect 'a unique run of none' "$a" "$("$spore" lone)"
a=$("$spore" keyed)
expect 'an idempotency key, with a trace' "$a" "$("$spore" keyed "$given")"
expect 'with another' "$a" "$("$spore" keyed "$other")"
drain once process
expect 'runs of those' 2 "$(grep -cE '^spore.(lone|grow)' "$scratch/once")"

# --- what is wrong ---
refused() { # refused TEXT ARGUMENT...
    text=$1
    shift
    ! "$spore" client "$@" 2>"$scratch/refused" || fail "accepted: $*"
    grep -q "EINVAL: $text" "$scratch/refused" || fail "$(cat "$scratch/refused")"
}
refused 'traceparent has a trace-id of zeroes alone' 00-00000000000000000000000000000000-00f067aa0ba902b7-01
refused 'traceparent has no trace-id of 32 digits' "00-$(echo $id | tr a-f A-F)-00f067aa0ba902b7-01"
refused 'traceparent has more behind its flags' "$given-x"
refused 'tracestate is longer than 512 bytes' "$given" "$(head -c 513 /dev/zero | tr '\0' x)"
