#!/bin/sh
# A worker writes a span for each attempt of a run whose trace is recorded, also of one that crashes or
# hangs, and nothing that becomes of the file holds it up. usage: spans.sh REPOSITORY BUILD STORE
. "$(dirname "$0")/lib.sh"
store_start
spore=$build/tests/product/process/spore
worker=$spore
check() { python3 -B "$repository/tests/product/process/spans_check.py" "$@" || fail "$(cat "$scratch/$worker_name.log")"; }
id=4bf92f3577b34da6a3ce929d0e0e4736
given=00-$id-00f067aa0ba902b7-01
quiet=00-$id-00f067aa0ba902b7-00
drain() { # drain NAME OPTION...
    name=$1
    shift
    worker_start "$name" --drain --traces "$scratch/$name.spans" "$@"
    worker_expect 0
}

# told_as_written NAME: what the handlers of that worker were told are the spans that it wrote.
told_as_written() {
    sed -n "s/.* 00-$id-\([0-9a-f]*\)-01 .*/\1/p" "$scratch/$1" | sort >"$scratch/told"
    grep -o '"spanId":"[0-9a-f]*"' "$scratch/$1.spans" | cut -d'"' -f4 | sort >"$scratch/written"
    cmp "$scratch/told" "$scratch/written" || fail "$1: handlers were told of other spans"
}

# --- from generation to generation, over processes ---
for isolation in process none job; do
    for how in client follow many all after batch thread; do "$spore" $how "$given" >/dev/null; done
    "$spore" client "$quiet" >/dev/null
    "$spore" client >/dev/null
    drain "$isolation" --isolation "$isolation"
    check --tree "$scratch/$isolation.spans" >"$scratch/tree"
    for depth in 0 1 2; do
        expect "$isolation, spans of depth $depth" 7 \
            "$(grep -c "^$depth process spore.grow $id 00f067aa0ba902b7 -$" "$scratch/tree")"
    done
    expect "$isolation, spans of the rest" 0 "$(grep -cv " $id " "$scratch/tree" || true)"
    expect "$isolation, spans" 21 "$(grep -c . "$scratch/tree")"
    told_as_written "$isolation"
done
"$spore" life "$given" 'rojo=1,"\=2' >/dev/null
drain chain
expect 'a chain' "0 process spore.grow $id 00f067aa0ba902b7 rojo=1,\"\\=2
1 process spore.rest $id 00f067aa0ba902b7 rojo=1,\"\\=2" "$(check --tree "$scratch/chain.spans")"

# --- ends ---
for isolation in process none; do
    ends='fail hang'
    [ $isolation = none ] || ends='crash fail hang'
    for how in $ends; do "$spore" $how "$given" >/dev/null; done
    worker_start "ends_$isolation" --drain --traces "$scratch/ends_$isolation.spans" --isolation $isolation \
        --name "sporangium" --concurrency 3
    worker_expect 0
    told_as_written "ends_$isolation"
    check "$scratch/ends_$isolation.spans" | sort >"$scratch/ends"
    [ $isolation = none ] || grep -q '^crashed process spore.grow 1 crashed - sporangium crashed: .*SIGSEGV' "$scratch/ends" ||
        fail "$(cat "$scratch/ends")"
    grep -q '^failed process spore.grow 1 failed - sporangium no "luck"$' "$scratch/ends" || fail "$(cat "$scratch/ends")"
    grep -q '^timed_out process spore.grow 1 timed_out - sporangium timed out after 700ms' "$scratch/ends" ||
        fail "$(cat "$scratch/ends")"
    expect "$isolation, second attempts" "$(echo "$ends" | wc -w)" "$(grep -c '^done process spore.grow 2 - - sporangium $' "$scratch/ends")"
    expect "$isolation, spans of ends" "$(echo "$ends $ends" | wc -w)" "$(grep -c . "$scratch/ends")"
done

# --- traces that begin here ---
run=$("$spore" client)
"$spore" client "$quiet" >/dev/null
drain all --trace-all
expect 'a trace with the id of its run' "0 process spore.grow $(echo "$run" | tr -d -) - -
1 process spore.grow $(echo "$run" | tr -d -) - -
2 process spore.grow $(echo "$run" | tr -d -) - -" "$(check --tree "$scratch/all.spans")"
SPORE_RIPENS=1 worker_start ripe --traces "$scratch/ripe.spans" --trace-all
ripened() { [ "$(grep -s spore.ripen "$scratch/ripe.spans" | wc -l)" -ge 2 ]; }
wait_until 20 ripened
worker_stop ripe 0
check --tree "$scratch/ripe.spans" | sort >"$scratch/tree"
expect 'periodic runs, each with its own trace' "$(grep -c . "$scratch/tree")" "$(grep -c '^0 process spore.ripen [0-9a-f]* - -$' "$scratch/tree")"
expect 'their traces' "$(grep -c . "$scratch/tree")" "$(cut -d' ' -f4 "$scratch/tree" | sort -u | grep -c .)"

# --- the file is moved away while the worker writes ---
printf 'traces = %s\nname = sporangium\n' "$scratch/rotated.spans" >"$scratch/options"
worker_start rotated --config "$scratch/options"
written() { grep -qs process "$scratch/rotated.spans"; }
"$spore" plain "$given" >/dev/null
wait_until 20 written
mv "$scratch/rotated.spans" "$scratch/rotated.1"
kill -HUP "$background"
"$spore" plain "$given" >/dev/null
wait_until 20 written
worker_stop rotated 0
expect 'spans in both files' 2 "$(check "$scratch/rotated.1" "$scratch/rotated.spans" | grep -c '^done ')"
expect 'in the newer one' 1 "$(check "$scratch/rotated.spans" | grep -c .)"

# --- a disk that takes nothing, a pipe that nobody reads ---
worker_start full --traces /dev/full
for i in 1 2 3; do "$spore" plain "$given" >/dev/null; done
ran() { [ "$(grep -c plain "$scratch/full")" = 3 ]; }
wait_until 20 ran
worker_stop full 0
log_has full 'warn  traces: [1-3] spans\{0,1\} w[aser]* dropped: No space left on device'
expect 'spans in the lines' 3 "$(sed -n 's/.*traces: \([0-9]*\) span.*/\1/p' "$scratch/full.log" | awk '{n += $1} END {print n}')"
mkfifo "$scratch/pipe"
"$spore" plain "$given" >/dev/null
worker_start fifo --drain --traces "$scratch/pipe"
worker_expect 0
log_has fifo 'warn  traces: 1 span was dropped: No such device or address'

# --- a collector: one that takes them, one that refuses, one that says nothing, and none ---
collector() { # collector NAME HOW: one at $port, which notes requests in $scratch/NAME
    python3 -B "$repository/tests/product/process/collector.py" "$2" "$scratch/$1.spans" >"$scratch/$1.port" &
    collector=$!
    wait_until 20 test -s "$scratch/$1.port"
    port=$(cat "$scratch/$1.port")
}
"$spore" client "$given" >/dev/null
collector takes 200
worker_start taken --drain --traces "http://127.0.0.1:$port"
worker_expect 0
kill "$collector"
expect 'spans that the collector took' 3 "$(check --tree "$scratch/takes.spans" | grep -c " $id 00f067aa0ba902b7 -")"
"$spore" plain "$given" >/dev/null
collector refuses 503
worker_start refused_by --drain --traces "http://127.0.0.1:$port/v1/traces"
worker_expect 0
log_has refused_by 'warn  traces: 1 span was dropped: the collector answered 503'
kill "$collector"
"$spore" plain "$given" >/dev/null
worker_start nobody --drain --traces "http://127.0.0.1:$port/v1/traces"
worker_expect 0
log_has nobody "warn  traces: 1 span was dropped: cannot connect to 127.0.0.1 port $port: Connection refused"
collector mute mute
worker_start unheard --traces "http://127.0.0.1:$port/v1/traces"
for i in 1 2 3; do "$spore" plain "$given" >/dev/null; done
unheard() { [ "$(grep -c plain "$scratch/unheard")" = 3 ]; }
wait_until 20 unheard
worker_stop unheard 0
log_has unheard 'warn  traces: [1-3] spans\{0,1\} w[aser]* dropped: the collector did not answer in time'
kill "$collector"

# --- a line that is cut off by the end of a disk spoils no other one ---
# The limit is the worker's: SQLite would meet it, too.
if [ "$store" = redis ]; then
    for i in 1 2 3 4 5 6 7 8 9 10; do "$spore" plain "$given" >/dev/null; done
    cat >"$scratch/bounded" <<END
ulimit -S -f 8
exec "$spore" --traces "$scratch/torn.spans"
END
    worker=sh worker_start torn "$scratch/bounded"
    warned() { grep -q 'warn  traces: .* dropped: File too large' "$scratch/torn.log"; }
    wait_until 20 warned
    prlimit --pid "$background" --fsize=unlimited
    "$spore" plain "$given" >/dev/null
    again() { grep -q 'info  traces: written again' "$scratch/torn.log"; }
    wait_until 20 again
    worker_stop torn 0
    sed -n '$p' "$scratch/torn.spans" >"$scratch/whole.spans"
    expect 'spans behind the torn line' 1 "$(check "$scratch/whole.spans" | grep -c '^done ')"
fi

# --- where nothing can be written from the start ---
refused() { # refused TEXT OPTION...
    text=$1
    shift
    ! "$spore" --drain "$@" 2>"$scratch/refused" || fail "accepted: $*"
    grep -q "$text" "$scratch/refused" || fail "$(cat "$scratch/refused")"
}
refused 'traces: .*/nowhere/spans: No such file or directory' --traces "$scratch/nowhere/spans"
refused 'traces: .*: Is a directory' --traces "$scratch"
refused 'traces: there is no TLS here' --traces https://127.0.0.1:4318/v1/traces
refused 'traces: a collector is written http' --traces http://ann:hunter2@127.0.0.1:4318/v1/traces
! grep hunter2 "$scratch/refused" || fail 'a password is shown'
refused 'trace_all is set, and traces is not' --trace-all
