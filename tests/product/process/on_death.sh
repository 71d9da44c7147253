#!/bin/sh
# A command is told of each run that dies: one after the other, with what it should know and no more. One
# that hangs is killed, one that does not exist is told of, and neither holds up the worker.
. "$(dirname "$0")/lib.sh"
store_start
cat >"$scratch/tell" <<'END'
mkdir "$2/lock" || echo 'two at a time' >>"$1"
read -r input && echo 'has an input' >>"$1"
echo "$CULEX_JOB $CULEX_QUEUE $CULEX_ATTEMPT $CULEX_REASON: $CULEX_ERROR" >>"$1"
echo "$CULEX_RUN_ID" >>"$1.ids"
env >"$1.env"
rmdir "$2/lock"
END
drain() { "$nap" --drain --concurrency 2 "$@" 2>"$scratch/log" || fail "$(cat "$scratch/log")"; }

# Facts of deaths of several kinds. What an error says is no part of the command.
"$nap" enqueue tell "x'\"; touch $scratch/injected \$(touch $scratch/injected)" >/dev/null
"$nap" enqueue count 1 fails >/dev/null
"$nap" enqueue count 1 crashes >/dev/null
"$nap" enqueue count 1 done >/dev/null
"$nap" enqueue mule >/dev/null
[ "$store" = redis ] || export CULEX_PASSWORD=hush # Redis would want none
CULEX_JOB=mine drain --isolation process --on-death "sh $scratch/tell $scratch/told $scratch"
grep -q "^tell naps 1 failed: .*touch $scratch/injected" "$scratch/told" || fail "$(cat "$scratch/told")"
grep -q '^count naps 1 failed: ' "$scratch/told" || fail "$(cat "$scratch/told")"
grep -q '^count naps 1 crashed: .*killed by SIG' "$scratch/told" || fail "$(cat "$scratch/told")"
grep -q '^mule naps 1 timed_out: timed out after 500ms' "$scratch/told" || fail "$(cat "$scratch/told")"
expect 'deaths told' 4 "$(grep -c . "$scratch/told")"
expect 'runs told of' 4 "$(sort -u "$scratch/told.ids" | grep -cE '^[0-9a-f-]{36}$')"
[ ! -e "$scratch/injected" ] || fail 'an error text was executed'
! grep hush "$scratch/told.env" || fail 'the command has the password'
expect 'variables of that name' 1 "$(grep -c '^CULEX_JOB=' "$scratch/told.env")"

# It hangs, with a child: all of it is killed, and the others come to their turn.
"$nap" enqueue count 1 fails >/dev/null
"$nap" enqueue count 1 fails >/dev/null
drain --isolation none --on-death "echo \$\$ >>$scratch/hung; sleep 1000 & wait" --on-death-timeout 300ms
expect 'commands that hung' 2 "$(grep -c . "$scratch/hung")"
expect 'lines about them' 2 "$(grep -c 'on-death: the command for run .* took too long and was killed' "$scratch/log")"
! pgrep -f '^sleep 1000$' -g "$(tr '\n' , <"$scratch/hung" | sed 's/,$//')" || fail 'a child of it goes on'

# It does not exist.
"$nap" enqueue count 1 fails >/dev/null
drain --isolation none --on-death "$scratch/nowhere"
grep -q 'on-death: the command for run .* failed with exit status 127$' "$scratch/log" || fail "$(cat "$scratch/log")"

# More deaths than have room: the worker goes on, and says in one line for how many there was none.
for i in $(seq 150); do "$nap" enqueue count 1 fails >/dev/null; done
drain --isolation none --on-death 'sleep 1000' --on-death-timeout 10ms
line=$(grep -c 'on-death: the command was not run for [1-9][0-9]* dead runs: 100 were waiting' "$scratch/log") || true
expect 'lines about those without room' 1 "$line"

expect 'lines about those that were killed' yes \
    "$([ "$(grep -c 'took too long and was killed' "$scratch/log")" -ge 100 ] && echo yes)"

# A worker that is asked to stop twice does not wait for it.
"$nap" enqueue count 1 fails >/dev/null
worker_start last --isolation none --on-death "echo x >>$scratch/began; sleep 1000" --grace 60s
began() { [ -e "$scratch/began" ]; }
wait_until 20 began
kill -TERM "$background"
kill -INT "$background"
worker_expect 0
