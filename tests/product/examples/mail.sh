#!/bin/sh
# Defaults, retries, dead letters and their revival, limits named to the producer.
. "$(dirname "$0")/lib.sh"
example_build mail
store_start
cd "$scratch/bin"
./mail send ann@shop.example Hello bob@shop.example >/dev/null
./mail send gone@bounce.example Hello >/dev/null
./mail send anybody@nowhere.example Hello >/dev/null
! ./mail send '' Hello 2>"$scratch/error" || fail 'an empty address was accepted'
grep -q '^mail: to: ' "$scratch/error" || fail "the error does not name the param: $(cat "$scratch/error")"

sent=$(./worker --drain 2>"$scratch/log")
expect delivery 'no-reply@shop.example -> ann@shop.example: Hello (SOON, 1 in copy)' "$sent"
dead=$(./mail dead | sed 's/^[^ ]* //' | sort)
expect 'dead letters' 'after 1 attempts: 550 no such domain
after 4 attempts: 450 mailbox of gone@bounce.example is busy' "$dead"
expect 'those of one error' 'after 1 attempts: 550 no such domain' "$(./mail dead 'no such' | sed 's/^[^ ]* //')"
expect 'those of no error' '' "$(./mail dead 'No such')"
expect 'the log of one' 'attempt 1: the server of gone@bounce.example answers
attempt 1: failed: 450 mailbox of gone@bounce.example is busy
attempt 2: the server of gone@bounce.example answers
attempt 2: failed: 450 mailbox of gone@bounce.example is busy
attempt 3: the server of gone@bounce.example answers
attempt 3: failed: 450 mailbox of gone@bounce.example is busy
attempt 4: the server of gone@bounce.example answers
attempt 4: failed: 450 mailbox of gone@bounce.example is busy' "$(./mail log '450')"
expect 'of the other, which wrote nothing' 'attempt 1: failed: 550 no such domain' "$(./mail log 'no such')"
expect 'of both' 9 "$(./mail log | wc -l)"
./mail retry 'no such'
expect 'the other one stays dead' 'after 4 attempts: 450 mailbox of gone@bounce.example is busy' "$(./mail dead | sed 's/^[^ ]* //')"
./worker --drain 2>/dev/null
expect 'both are dead' 2 "$(./mail dead | wc -l)"

./mail retry
expect 'none is dead after the retry' '' "$(./mail dead)"
./worker --drain 2>/dev/null
expect 'both died again' 2 "$(./mail dead | wc -l)"

# More than a page of a listing: each that is retried leaves what is listed.
sent=0
while [ "$sent" -lt 150 ]; do
    ./mail send "$sent@nowhere.example" Hello >/dev/null
    sent=$((sent + 1))
done
./worker --drain 2>/dev/null
expect 'all are dead' 152 "$(./mail dead | wc -l)"
./mail retry
expect 'all are retried' '' "$(./mail dead)"
