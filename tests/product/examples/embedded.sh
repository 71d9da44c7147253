#!/bin/sh
# One program with the worker in its own loop: lines go in and come out louder, at once and while it
# is idle; a signal stops it, and what it was not told of then is done by the next one.
# $4 = the loop: poll, uv or glib.
. "$(dirname "$0")/lib.sh"
loop=$4
example_build embedded
store_start
cd "$scratch/bin"
mkfifo "$scratch/lines"

begin() {
    "./with_$loop" <"$scratch/lines" >"$scratch/said" 2>"$scratch/log" &
    background=$!
    exec 3>"$scratch/lines"
}

stop() { # stop SIGNAL
    kill "-$1" "$background"
    wait "$background" || fail "$loop ended with $?: $(cat "$scratch/log")"
    background=
    exec 3>&-
}

said() { [ "$(sort "$scratch/said")" = "$1" ]; }

begin
echo 'one' >&3
wait_until 20 said 'ONE'
sleep 1 # idle
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
