#!/bin/sh
# A worker is asked to stop while it tries to reach a store that does not answer: that attempt does
# not outlast the stop. usage: connecting.sh REPOSITORY BUILD PYTHON
. "$(dirname "$0")/lib.sh"
python=$3
command -v redis-server >/dev/null || { echo 'skipped: no redis-server'; exit 77; }
nobody=
trap '[ -z "$nobody" ] || kill "$nobody" 2>/dev/null; cleanup' EXIT
port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export CULEX_URL="redis://127.0.0.1:$port"

server_start() {
    rm -f "$scratch/redis.log"
    redis-server --port "$port" --save '' --dir "$scratch" >"$scratch/redis.log" 2>&1 &
    server=$!
    wait_until 10 grep -qs 'Ready to accept' "$scratch/redis.log"
}

# nobody_start HOW: in the server's place. Files of the one before would answer at once.
nobody_start() {
    if [ -n "$server" ]; then
        kill -KILL "$server"
        wait "$server" || true
        server=
    fi
    rm -f "$scratch/nobody"
    "$python" "$(dirname "$0")/nobody.py" "$1" "$port" >"$scratch/nobody" &
    nobody=$!
}

nobody_stop() {
    kill "$nobody"
    wait "$nobody" || true
    nobody=
}

stop_expect() {
    wait_until 20 grep -qs met "$scratch/nobody"
    worker_stop "$1" "$2"
    nobody_stop
}

# With a run at work: grace and 2 s.
for how in mute deaf; do
    for isolation in process none; do
        name=$how-$isolation
        server_start
        "$nap" enqueue nap
        worker_start "$name" --isolation "$isolation" --grace 500ms --store-timeout 60s
        wait_until 10 started "$name" 1
        nobody_start "$how"
        stop_expect "$name" 3
        log_has "$name" 'could not be recorded'
    done
done

# Before it has ever reached its store, it has nothing to wait for.
for how in mute deaf; do
    nobody_start "$how"
    wait_until 10 grep -qs ready "$scratch/nobody"
    worker_start "new-$how" --grace 60s --store-timeout 60s
    stop_expect "new-$how" 1
    log_has "new-$how" 'stopped before'
done

# Nobody listens: that is what it ends with, and not that the stop has cut its last try short.
worker_start refused --grace 60s
wait_until 10 grep -qs 'Connection refused' "$scratch/refused.log"
kill -TERM "$background"
worker_expect 1
tail -n 1 "$scratch/refused.log" | grep -q 'stopped before .*Connection refused' ||
    fail "the last line is: $(tail -n 1 "$scratch/refused.log")"

# Its store has gone while it was idle: it holds nothing that it would have to wait for.
server_start
worker_start idle --grace 60s
# It is idle once it waits for a wake-up and has asked once more behind that.
is_idle() {
    redis-cli -p "$port" client list | grep -v cmd=client >"$scratch/clients"
    grep -q cmd=blpop "$scratch/clients" && ! grep -q ' idle=[01] ' "$scratch/clients"
}
wait_until 10 is_idle
# The end of a server closes one connection after the other. What ends the wait for a wake-up makes
# the worker ask again, which leaves a run in doubt when the other one is still there: it goes first.
other=$(sed -n 's/^id=\([0-9]*\) .* cmd=evalsha .*/\1/p' "$scratch/clients")
redis-cli -p "$port" client kill id "$other" >"$scratch/killed"
kill -KILL "$server"
wait "$server" || true
server=
wait_until 10 grep -qs 'in trouble' "$scratch/idle.log"
worker_stop idle 0
