#!/bin/sh
# A worker in shell: worker.sh QUEUE COMMAND. Claims runs over HTTP until none comes for 2 s; COMMAND
# gets the params, JSON, on standard input. It succeeds: the run is done; else it has failed, and what
# it wrote to standard error says why. CULEX_HTTP is the console, CULEX_TOKEN a token with role work.
# Needs curl and jq.
set -eu
queue=$1 command=$2
api=${CULEX_HTTP:-http://127.0.0.1:7420}/api/v1

post() { # PATH JSON
    curl -sS --fail-with-body --max-time 30 "$api/$1" -H 'Content-Type: application/json' \
        -H "Authorization: Bearer ${CULEX_TOKEN:-}" -d "$2"
}

told() { # CLAIM JSON; 409: the lease was over, and another has the run
    post "claims/$1" "$2" >/dev/null || :
}

errors=$(mktemp) beats=
trap 'rm -f "$errors"; kill "$beats" 2>/dev/null || :' EXIT
while claim=$(post "queues/$queue/claim" '{"wait":"2s","lease":"30s"}') || { printf '%s\n' "$claim" >&2 && exit 1; }
    [ "$(printf %s "$claim" | jq .claim)" != null ]; do
    token=$(printf %s "$claim" | jq -r .claim.token)
    # While the command works the lease is made longer; the store says when to stop.
    (while sleep 10; do post "claims/$token/heartbeat" '{"lease":"30s"}' >/dev/null || exit; done) &
    beats=$!
    if printf %s "$claim" | jq -c .claim.params | sh -c "$command" 2>"$errors"; then
        told "$token/complete" '{}'
    else # of a long text the store keeps 4 KiB
        told "$token/fail" "$(head -c 4096 "$errors" | LC_ALL=C tr -d '\000-\010\013-\037' | jq -Rsc '{error: .}')"
    fi
    kill "$beats" 2>/dev/null || :
    beats=
done
