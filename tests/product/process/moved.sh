#!/bin/sh
# The store's file is removed, replaced, emptied or cut off under a worker, or the link to it is
# switched: it ends by itself with
# exit code 4 and says what happened, and so does an enqueue meanwhile or afterwards.
. "$(dirname "$0")/lib.sh"
store_start
file=$scratch/jobs.db

# begin NAME: a worker on a new store that has begun a run, all of it in the file.
begin() {
    rm -f "$file" "$file"-*
    "$nap" enqueue nap 60000
    worker_start "$1" --name "$1" --grace 0
    wait_until 10 started "$1" 1
    python3 -c 'import sqlite3, sys
sqlite3.connect(sys.argv[1]).execute("PRAGMA wal_checkpoint(FULL)")' "$file"
}

# end NAME SAYS: the worker's end.
end() {
    worker_expect 4
    log_has "$1" "jobs.db.*$2"
}

# refuses SAYS: whoever opens the store.
refuses() {
    if "$nap" enqueue nap 1 2>"$scratch/refused"; then fail "enqueued, though the store $1"; fi
    grep -q "$1" "$scratch/refused" || { cat "$scratch/refused" >&2; fail "no word of: $1"; }
}

begin removed
mv "$file" "$file.away"
end removed 'was removed'
refuses 'is gone, but'
[ ! -e "$file" ] || fail 'a new store was begun beside the log of the old one'
mv "$file.away" "$file"
[ "$("$nap" state | wc -l)" = 1 ] || fail 'the store that was put back is not what it was'

begin replaced
cp "$file" "$scratch/copy"
mv "$scratch/copy" "$file"
end replaced 'was replaced by another file'

begin emptied
truncate -s 0 "$file"
end emptied 'was emptied'

# Frozen, so that both find it: who opens the file beside the worker, and the worker.
begin cut
freeze "$background"
truncate -s -5000 "$file"
refuses 'is cut off at'
kill -CONT "$background"
end cut 'was cut off'

begin log
rm "$file-wal"
end log '-wal, the log of the store'

# With a commit that is nowhere else: a log that is all in the file may be begun anew by right.
begin emptied-log
freeze "$background"
python3 -c 'import sqlite3, sys
store = sqlite3.connect(sys.argv[1], isolation_level=None)
store.execute("PRAGMA user_version=%d" % store.execute("PRAGMA user_version").fetchone()[0])' "$file"
truncate -s 0 "$file-wal"
refuses 'jobs.db-wal, the log of the store, is emptied'
kill -CONT "$background"
end emptied-log '-wal, the log of the store, was emptied'

# As a deployment does that switches a link to the next release.
mkdir "$scratch/first" "$scratch/next"
ln -s first "$scratch/current"
CULEX_URL=sqlite:$scratch/next/jobs.db "$nap" enqueue nap 1
file=$scratch/current/jobs.db
CULEX_URL=sqlite:$file
begin link
ln -s next "$scratch/new"
mv -T "$scratch/new" "$scratch/current"
"$nap" enqueue nap 1
end link 'leads to another file'
"$nap" --drain 2>"$scratch/drain.log" >"$scratch/drain" || fail 'the other store cannot be drained'
[ "$(grep -c 'done in' "$scratch/drain.log")" = 2 ] || fail 'not both runs were where the link leads'
file=$scratch/jobs.db
CULEX_URL=sqlite:$file

# Whoever opens the store next to it makes an index anew, and neither sees the other: what is enqueued
# then must be there when the worker has ended, and the worker must not write.
begin index
rm "$file-shm"
"$nap" enqueue nap 1
end index '-shm, by which those'
"$nap" --drain 2>"$scratch/drain.log" >"$scratch/drain" || fail 'the store cannot be drained'
grep -q 'done in' "$scratch/drain.log" || fail 'the run that was enqueued meanwhile is gone'
