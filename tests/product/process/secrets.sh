#!/bin/sh
# The store's password is in no log line, no command line, and nowhere in a child:
# neither its environment nor its memory. usage: secrets.sh REPOSITORY BUILD PYTHON
. "$(dirname "$0")/lib.sh"
python=$3
command -v redis-server >/dev/null || { echo 'skipped: no redis-server'; exit 77; }
password=hunter2-0f3a9c
printf 'port 0\nunixsocket %s/redis.sock\nsave ""\ndir %s\nrequirepass %s\n' "$scratch" "$scratch" \
    "$password" | redis-server - >"$scratch/redis.log" 2>&1 &
server=$!
wait_until 10 redis-cli -s "$scratch/redis.sock" ping # the file is there before somebody listens
unset CULEX_URL CULEX_URL_FILE CULEX_PASSWORD
plain="redis+unix://$scratch/redis.sock"
printf '%s?password=%s\n' "$plain" "$password" >"$scratch/url"
chmod 600 "$scratch/url"
producer() { env -u CULEX_URL -u CULEX_PASSWORD CULEX_URL_FILE="$scratch/url" "$nap" "$@"; }

# Looks at the worker $background while a handler runs.
examine() { # examine NAME
    producer enqueue nap
    wait_until 10 started "$1" 1
    family=$(descendants "$background")
    [ -n "$family" ] || fail 'no process for handlers'
    for each in "$background" $family; do
        tr '\0' ' ' <"/proc/$each/cmdline" | grep -q "$password" && fail "$1: on a command line"
    done
    for each in $family; do
        tr '\0' '\n' <"/proc/$each/environ" | grep -q "$password" && fail "$1: in an environment"
        found=0
        "$python" "$(dirname "$0")/memory_has.py" "$each" "$password" || found=$?
        [ "$found" = 1 ] || fail "$1: in the memory of $each ($found)"
    done
    producer cancel
    kill -TERM "$background"
    kill -TERM "$background" 2>/dev/null || true
    worker_expect 0
    grep -q "$password" "$scratch/$1" "$scratch/$1.log" && fail "$1: in a line of the log"
    grep -q 'serves 2 queue(s) at redis+unix://.*' "$scratch/$1.log" || fail "$1: $(cat "$scratch/$1.log")"
}

worker_start file --url-file "$scratch/url" --lease 900ms
examine file
export CULEX_URL="$plain?password=$password"
worker_start variable --lease 900ms
examine variable
export CULEX_URL="$plain" CULEX_PASSWORD="$password"
worker_start apart --lease 900ms
examine apart

# What a handler is left with, and who may look into the worker.
producer enqueue look
export CULEX_URL="$plain?password=$password"
expect 'a handler in a process' "dumpable 1 url redis+unix://*** password ***" \
    "$("$nap" --drain 2>/dev/null)"

# A program that a handler starts is told why it cannot reach the store.
program_is_told() { # program_is_told WAY
    producer enqueue look
    NAP_PROGRAM="'$nap' state 2>&1 || true" "$nap" --drain >"$scratch/program" 2>/dev/null
    grep -q 'nap: .*taken out of the environment.*culex_run_client' "$scratch/program" ||
        fail "$1: $(cat "$scratch/program")"
}
program_is_told 'within the URL'
CULEX_URL="$plain"
program_is_told 'apart from the URL'
CULEX_URL="$plain?password=$password"
producer enqueue look
"$nap" --drain --isolation none 2>/dev/null | grep -q '^dumpable 0 ' || fail 'others may look into the worker'
producer enqueue look
"$nap" --drain --isolation none --core-dumps 2>/dev/null | grep -q '^dumpable 1 ' || fail 'no core dumps'

# Refusals do not repeat it.
unset CULEX_URL CULEX_PASSWORD
! "$nap" --drain --url "$plain?password=$password" 2>"$scratch/refused" || fail 'accepted on the command line'
grep -q 'every user of this machine can read a password' "$scratch/refused" || fail "$(cat "$scratch/refused")"
chmod 644 "$scratch/url"
! "$nap" --drain --url-file "$scratch/url" 2>>"$scratch/refused" || fail 'accepted a file that others may read'
grep -q 'mode 0644.*chmod 600' "$scratch/refused" || fail "$(cat "$scratch/refused")"
printf '%s?password=x%s' "$plain" "$password" >"$scratch/wrong"
chmod 600 "$scratch/wrong"
! "$nap" --drain --url-file "$scratch/wrong" 2>>"$scratch/refused" || fail 'a wrong password is accepted'
! grep -q "$password" "$scratch/refused" || fail "$(cat "$scratch/refused")"
