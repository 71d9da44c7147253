#!/bin/sh
# One program with the worker in its own loop: lines go in and come out louder; a signal stops it,
# and what it was not told of then is done by the next one. Its input may be what no loop waits for.
# $4 = the loop: poll, uv or glib.
. "$(dirname "$0")/lib.sh"
loop=$4
example_build embedded
store_start
cd "$scratch/bin"
mkfifo "$scratch/lines"

begin_from() { # begin_from INPUT
    "./with_$loop" <"$1" >"$scratch/said" 2>"$scratch/log" &
    background=$!
}

begin() {
    begin_from "$scratch/lines"
    exec 3>"$scratch/lines"
}

stop() { # stop SIGNAL
    kill "-$1" "$background"
    wait "$background" || fail "$loop ended with $?: $(cat "$scratch/log")"
    background=
    exec 3>&-
}

catches_term() { # it, and not the shell that is to become it
    [ "$(cat "/proc/$background/comm")" = "with_$loop" ] || return 1
    caught=$(sed -n 's/^SigCgt:[[:blank:]]*//p' "/proc/$background/status") || fail 'it has ended'
    [ $((0x$caught >> 14 & 1)) = 1 ]
}

said() { [ "$(sort "$scratch/said")" = "$1" ]; }

begin
echo 'one' >&3
wait_until 20 said 'ONE'
printf 'two\nthree\n' >&3
wait_until 20 said 'ONE
THREE
TWO'
stop TERM

# The end of the input ends only that.
begin
echo 'four' >&3
exec 3>&-
wait_until 20 said 'FOUR'
kill -0 "$background" || fail 'it ended with its input'
stop INT
expect 'complaints' '' "$(cat "$scratch/log")"

echo 'five' >"$scratch/file"
begin_from "$scratch/file"
wait_until 20 said 'FIVE'
stop TERM
expect 'complaints about a file' '' "$(cat "$scratch/log")"

begin_from /dev/null
wait_until 20 catches_term
stop TERM
expect 'complaints about /dev/null' '' "$(cat "$scratch/log")"
