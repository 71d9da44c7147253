#!/bin/sh
# The place of the SQLite file is not there yet, or can never be one. usage: unopened.sh REPOSITORY BUILD
. "$(dirname "$0")/lib.sh"

# A drain has nothing to wait for: it ends, and says why.
drain_refused() { # NAME CODE REASON
    worker_start "$1" --drain
    wait_until 20 is_over
    worker_expect "$2"
    tail -n 1 "$scratch/$1.log" | grep -q "$3" || fail "the last line is: $(tail -n 1 "$scratch/$1.log")"
}

# A worker that has ended may be a zombie until it is waited for.
is_over() { is_gone "$background" || grep -qs '^State:[[:space:]]*Z' "/proc/$background/status"; }

export CULEX_URL="sqlite:$scratch/folder/jobs.db"
drain_refused drain 1 'a drain does not wait for .*No such file or directory'

# Any other worker waits for the folder, which may be a disk that is mounted late.
worker_start patient
wait_until 10 grep -qs 'in trouble, trying again: .*No such file or directory' "$scratch/patient.log"
mkdir "$scratch/folder"
wait_until 20 grep -qs serves "$scratch/patient.log"
kill -TERM "$background"
worker_expect 0

# A folder is no file, and will be none.
export CULEX_URL="sqlite:$scratch/folder"
drain_refused place 2 'is a folder'
worker_start never
worker_expect 2
