#!/bin/sh
# A worker answers for its metrics over HTTP: what a strict reader takes, and nothing else. A worker that
# cannot listen where it is told does not start, and its children have nothing of the socket.
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
store_start
is_told() { grep -q 'metrics are at ' "$scratch/$1.log"; }
address_of() { sed -n 's|.*metrics are at http://\(.*\)/metrics$|\1|p' "$scratch/$1.log"; }
is_worked_off() { [ "$("$nap" figures | grep -c ' ran ')" = 2 ]; }

"$nap" crowd 40 >"$scratch/ids"
"$nap" enqueue count 1 done
"$nap" enqueue count 1 fails
"$nap" enqueue count 1 crashes
worker_start one --metrics 0 --concurrency 4 --isolation process
wait_until 20 is_told one
address=$(address_of one)
case $address in 127.0.0.1:*) ;; *) fail "a port alone is at '$address'" ;; esac
wait_until 20 is_worked_off
python3 "$here/metrics_check.py" "$address" "$background" "$nap" "$repository"

# Somebody listens there already.
code=0
"$nap" --metrics "$address" --drain 2>"$scratch/log" || code=$?
expect 'exit status of a worker whose port is taken' 2 "$code"
expect 'what it says' "nap: metrics: cannot listen at $address: Address already in use; another program does, so choose \
another address or end that one" "$(tail -n 1 "$scratch/log")"
worker_stop 'a worker with metrics' 0

# The address is a matter of the configuration.
"$nap" --check-config --metrics '[::1]:9464' >"$scratch/out" || fail 'a good address is refused'
for bad in here:9464 127.0.0.1:x 65536 '[::1]' '[x]:1' unix: 1.2.3:4 "unix:/$(printf '%0108d' 0)"; do
    code=0
    "$nap" --check-config --metrics "$bad" 2>"$scratch/log" || code=$?
    expect "exit status for '$bad'" 2 "$code"
    grep -q 'is no address to listen at: .*; write PORT, ' "$scratch/log" || fail "'$bad': $(cat "$scratch/log")"
done

printf 'name = one\nmetrics = here:9464\n' >"$scratch/worker.conf"
code=0
"$nap" --check-config --config "$scratch/worker.conf" 2>"$scratch/log" || code=$?
expect 'exit status for a bad address in a file' 2 "$code"
grep -q "worker.conf:2: metrics: 'here:9464' is no address" "$scratch/log" || fail "the file's line: $(cat "$scratch/log")"
for bad in none/metrics.sock ids/metrics.sock; do
    code=0
    "$nap" --check-config --metrics "unix:$scratch/$bad" 2>"$scratch/log" || code=$?
    expect "exit status where the folder of $bad is none" 2 "$code"
    grep -q "metrics: cannot listen at unix:$scratch/$bad: " "$scratch/log" || fail "'$bad': $(cat "$scratch/log")"
done
(cd "$scratch" && "$nap" --check-config --metrics unix:metrics.sock >out) || fail 'a path in the folder is refused'

# A socket with a file: one that a killed worker has left is replaced, another file is not.
for name in two three; do
    worker_start "$name" --metrics "unix:$scratch/metrics.sock" --isolation none
    wait_until 20 is_told "$name"
    python3 "$here/metrics_check.py" "unix:$scratch/metrics.sock" "$background" - "$repository"
    [ "$name" = two ] && { kill -KILL "$background"; worker_expect 137; } || worker_stop 'a worker with a file' 0
done
[ ! -e "$scratch/metrics.sock" ] || fail 'the file of the socket is left'
echo mine >"$scratch/metrics.sock"
code=0
"$nap" --metrics "unix:$scratch/metrics.sock" --drain 2>"$scratch/log" || code=$?
expect 'exit status where a file is in the way' 2 "$code"
expect 'that file' mine "$(cat "$scratch/metrics.sock")"

# Nobody pays for it who does not ask.
! ldd "$nap" "$build/runtime/libculex.so" | grep microhttpd || fail 'libmicrohttpd is linked to all programs'
