# process/lib.sh - common part of the process tests: the example tests' lib and one worker in
# the background at a time. usage: TEST.sh REPOSITORY BUILD STORE
. "$(dirname "$0")/../examples/lib.sh"
nap=$build/tests/product/process/nap
worker=$nap # the program that worker_start starts

# worker_start NAME OPTION...: its stdout goes to $scratch/NAME, its log to $scratch/NAME.log.
worker_start() {
    worker_name=$1
    shift
    : >"$scratch/$worker_name" # nobody is to take the lines of an earlier one of that name for its own
    "$worker" "$@" >"$scratch/$worker_name" 2>"$scratch/$worker_name.log" &
    background=$!
}

# worker_expect CODE: waits for the worker's end.
worker_expect() {
    code=0
    wait "$background" || code=$?
    background=
    [ "$code" = "$1" ] || { cat "$scratch/$worker_name.log" >&2; fail "exit status $code, not $1"; }
}

# worker_stop NAME CODE: asks the worker to stop, and expects its end within 20 s. That is many times
# what is promised, which engine_ends holds to the millisecond by a clock of its own: whoever calls
# this gives the worker something that would take a minute, so that the stop must cut it short.
worker_stop() {
    begin=$(date +%s)
    kill -TERM "$background"
    worker_expect "$2"
    spent=$(($(date +%s) - begin))
    [ "$spent" -le 20 ] || fail "$1 took $spent s to stop"
}

# started NAME ATTEMPT: the worker of that name has begun that attempt.
started() { grep -q "^start $2 " "$scratch/$1"; }
pid_of_start() { sed -n "s/^start $2 \([0-9]*\) .*/\1/p" "$scratch/$1"; }

# A process that is stopped while it writes to SQLite's file keeps everybody else out of it.
store_is_free() {
    case $CULEX_URL in sqlite:*) ;; *) return 0 ;; esac
    python3 - "${CULEX_URL#sqlite:}" <<'EOF'
import sqlite3
import sys

store = sqlite3.connect(sys.argv[1], timeout=0.5, isolation_level=None)
try:
    store.execute("BEGIN IMMEDIATE")
    store.execute("ROLLBACK")
except sqlite3.OperationalError:
    sys.exit(1)
EOF
}

is_stopped() { grep -q '^State:[[:space:]]*T' "/proc/$1/status"; }

# freeze PID: stops it where it holds nothing that others wait for.
freeze() {
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
        kill -STOP "$1"
        wait_until 10 is_stopped "$1"
        ! store_is_free || return 0
        # It must come out of there: stopped at once it would be where it was.
        kill -CONT "$1"
        wait_until 10 store_is_free
    done
    fail "process $1 always has the store locked"
}

is_gone() { ! kill -0 "$1" 2>/dev/null; }

# descendants PID: all processes below it, one a line.
descendants() {
    for below in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
        echo "$below"
        descendants "$below"
    done
}

all_gone() {
    for each in "$@"; do
        is_gone "$each" || return 1
    done
}

state_is() { [ "$("$nap" state)" = "$1" ]; }
log_has() { grep -q "$2" "$scratch/$1.log" || { cat "$scratch/$1.log" >&2; fail "no line of the log says: $2"; }; }
text_has() {
    "$nap" text >"$scratch/text"
    grep -q "$1" "$scratch/text" || fail "error text '$(cat "$scratch/text")' does not say '$1'"
}
