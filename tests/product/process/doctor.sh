#!/bin/sh
# --doctor tells of a store that is not there, of runs that no worker takes or that a killed one has
# left, and of those that no worker knows how to run.
. "$(dirname "$0")/lib.sh"
store_start

# examine: the report goes to $scratch/report. What the store's settings are worth is not at stake.
examine() { "$nap" --doctor >"$scratch/report" || true; }
says() { grep -q -e "$1" "$scratch/report" || { cat "$scratch/report" >&2; fail "the doctor does not say: $1"; }; }
says_not() { if grep -q -e "$1" "$scratch/report"; then cat "$scratch/report" >&2; fail "the doctor says: $1"; fi; }

# A path that was misspelt: told, and no store is made there for the next look to find sound.
case $CULEX_URL in
sqlite:*)
    if "$nap" --doctor >"$scratch/report"; then fail 'the doctor is content without a store'; fi
    says '^error  *open  *the store cannot be reached: .* does not exist; nothing was created: check the path'
    [ -z "$(find "${CULEX_URL#sqlite:}"* 2>/dev/null)" ] || fail 'the doctor has made a store' ;;
*)
    examine
    says '^ok  *queues  *no queue has been used so far$' ;;
esac
for run in 1 2 3; do "$nap" enqueue nap 10; done
examine
says '^warning  *queue-unserved  *queue naps: 3 runs wait, none is at work,'
says '-> start a worker that serves it (--queues)'

"$nap" enqueue never
NAP_WITHOUT_NEVER=1 worker_start only
is_settled() { "$nap" state | sort | uniq -c >"$scratch/states"; grep -q ' 3 done ' "$scratch/states" && grep -q ' 1 scheduled attempt 1 ' "$scratch/states"; }
wait_until 10 is_settled
text_has '^no handler is registered for this job$'
examine
says_not queue-unserved
says 'queue-unknown-job  *queue naps: 1 run of job never given back by workers that have no handler for it, up to 1 time$'
kill -TERM "$background"
worker_expect 0

# One that knows the job takes it as soon as it is due.
worker_start knows
is_taken() { "$nap" state | grep -q 'failures 1'; }
wait_until 20 is_taken
examine
says '^ok  *queues  '
kill -TERM "$background"
worker_expect 0

# Its only worker is killed: the run that it held hides nothing, once its lease is over.
worker_start killed --lease 1s
"$nap" enqueue nap
wait_until 10 started killed 1
examine
says '^ok  *queues  *runs of 1 queue are at work, as far as their leases tell; no run waits in 1 queue$'
kill -KILL "$background"
wait "$background" 2>/dev/null || true
background=
leaves_one() { examine; grep -q 'queue-unserved  *queue naps: [1-9].* (1 left by a worker that is gone), none is at work' "$scratch/report"; }
wait_until 10 leaves_one
says_not '^ok  *queues '
