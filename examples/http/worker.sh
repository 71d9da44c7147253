#!/bin/sh
# A worker in shell: worker.sh QUEUE COMMAND. Claims runs over HTTP until none comes for 2 s; COMMAND
# gets the params, JSON, on standard input. It succeeds: the run is done; else it has failed, and what
# it wrote to standard error says why. CULEX_HTTP is the console, CULEX_TOKEN a token with role work.
# Needs curl and jq.
set -eu
queue=$1 command=$2
api=${CULEX_HTTP:-http://127.0.0.1:7420}/api/v1
lease_s=30

post() { # PATH JSON; sets answer and status, which is 000 when no answer came
    if answer=$(curl -s --max-time 30 -w '\n%{http_code}' "$api/$1" -H 'Content-Type: application/json' \
        -H "Authorization: Bearer ${CULEX_TOKEN:-}" -d "$2"); then
        status=$(printf %s "$answer" | tail -n 1) answer=$(printf %s "$answer" | sed '$d')
    else
        status=000 answer="$api: no answer"
    fi
}

post_again() { # PATH JSON; the console or its store may be back before the lease is over
    end=$(($(date +%s) + lease_s))
    while post "$1" "$2" && case $status in 000 | 503) [ "$(date +%s)" -lt $end ] ;; *) false ;; esac do
        sleep 1
    done
    [ "$status" = 200 ] || { printf '%s\n' "$answer" >&2 && false; }
}

told() { # CLAIM JSON; 409: the lease was over, and another has the run
    post_again "claims/$1" "$2" || :
}

errors=$(mktemp) beats=
trap 'rm -f "$errors"; kill "$beats" 2>/dev/null || :' EXIT
while post_again "queues/$queue/claim" '{"wait":"2s","lease":"'$lease_s's"}' || exit 1
    claim=$answer
    [ "$(printf %s "$claim" | jq .claim)" != null ]; do
    token=$(printf %s "$claim" | jq -r .claim.token)
    # While the command works the lease is made longer; 409: the run is not ours any more.
    (while sleep 10; do post "claims/$token/heartbeat" '{}' && [ "$status" != 409 ] || exit; done) >/dev/null 2>&1 &
    beats=$!
    if printf %s "$claim" | jq -c .claim.params | sh -c "$command" 2>"$errors"; then
        told "$token/complete" '{}'
    else # of a long text the store keeps 4 KiB
        told "$token/fail" "$(head -c 4096 "$errors" | LC_ALL=C tr -d '\000-\010\013-\037' | jq -Rsc '{error: .}')"
    fi
    kill "$beats" 2>/dev/null || :
    beats=
done
