#!/bin/sh
# Jobs by the calendar: they are listed with their times, run out of turn, paused and resumed by a
# process that has no schema.
. "$(dirname "$0")/lib.sh"
example_build books
store_start
cd "$scratch/bin"
./schedules >"$scratch/list" 2>"$scratch/err" && fail 'a queue is listed that is not there'
grep -q "no queue 'books'" "$scratch/err" || fail "$(cat "$scratch/err")"
./schedules run shop.close_books 2>"$scratch/err" && fail 'ran what nobody knows'
grep -q "no queue 'books'" "$scratch/err" || fail "$(cat "$scratch/err")"
./worker 2>"$scratch/log" &
background=$!
are_told() { ./schedules >"$scratch/list" && [ "$(grep -c 'next 2' "$scratch/list")" = 2 ]; }
wait_until 10 are_told
grep -q '^shop.close_books  *last 2.* next 2[-0-9]* 0[12]:10:00Z' "$scratch/list" ||
    fail "$(cat "$scratch/list")"
is_run() { [ "$(grep -c 'the books are closed' "$scratch/log")" = "$1" ]; }
id=$(./schedules run shop.close_books)
expect 'an id' 36 "${#id}"
wait_until 10 is_run 1
./schedules pause shop.close_books
./schedules | grep -q '^shop.close_books .*paused$' || fail 'it is not told to be paused'
# Not before the store knows that the first one has ended.
run_again() { ./schedules run shop.close_books >"$scratch/id" 2>"$scratch/err"; }
wait_until 10 run_again
wait_until 10 is_run 2
./schedules resume shop.close_books
! ./schedules | grep -q paused || fail 'it is told to be paused still'
./schedules pause shop.close_book 2>"$scratch/err" && fail 'paused what is not there'
grep -q "did you mean shop.close_books?" "$scratch/err" || fail "$(cat "$scratch/err")"
kill -TERM "$background"
status=0
wait "$background" || status=$?
background=
expect 'exit code after TERM' 0 "$status"
