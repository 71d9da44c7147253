#!/bin/sh
# Workers are killed in the middle of chains, again and again: each step of each chain comes in once,
# with what the one before it returned. usage: chain.sh REPOSITORY BUILD STORE
. "$(dirname "$0")/lib.sh"
store_start
relay=$build/tests/product/process/relay
worker=$relay
many=20

# --- nobody loses or doubles a step ---
some_are_said() { [ "$(grep -c . "$scratch/$1")" -ge 4 ]; }
total=0
for isolation in process none job; do
    "$relay" race "$many"
    total=$((total + many))
    for round in 1 2 3; do
        worker_start "$isolation$round" --lease 1s --concurrency 2 --isolation "$isolation"
        wait_until 20 some_are_said "$isolation$round"
        family=$(descendants "$background")
        kill -KILL "$background"
        ! wait "$background" 2>/dev/null || fail "a worker that was killed ended well"
        background=
        # shellcheck disable=SC2086
        wait_until 5 all_gone $family
    done
    worker_start "$isolation-last" --lease 1s --concurrency 4 --isolation "$isolation" --drain
    worker_expect 0
    expect "each step once, $isolation" "relay.one $((2 * total)) done $((2 * total)) dead 0
relay.two $total done $total dead 0" "$("$relay" count)"
    cat "$scratch/$isolation"[123] "$scratch/$isolation-last" >"$scratch/all"
    expect "runs of the last step, $isolation" $many "$(sed -n 's/^finish \([^ ]*\) .*/\1/p' "$scratch/all" | sort -u | wc -l)"
    for number in $(seq "$many"); do
        expect "the end of chain $number" "$number $((3 * number)) number-$number" \
            "$(sed -n 's/^finish [^ ]* //p' "$scratch/all" | grep "^$number " | sort -u)"
    done
done
! grep -q 'number-' "$scratch"/*.log || fail 'a secret of a chain is in a log'

# --- who does not know the chain leaves it alone ---
"$relay" race 1
given_back() { grep -q 'not understood: the next step of its chain is relay.middle: call' "$scratch/stranger.log"; }
RELAY_STRANGER=1 worker_start stranger
wait_until 20 given_back
worker_stop stranger 0
expect 'no handler was called' '' "$(cat "$scratch/stranger")"
worker_start friend --drain
worker_expect 0
expect 'the friend ends it' 1 "$(grep -c '^finish .* 1 3 number-1$' "$scratch/friend")"

# --- a step without a result ---
"$relay" race 1 mute
worker_start mute --drain
worker_expect 0
expect 'nothing follows a step without a result' '' "$(sed '/^begin/d' "$scratch/mute")"
"$relay" text >"$scratch/text"
grep -q 'the next step of its chain, relay.middle, was not enqueued: its params are made of the result, and the handler has set none: call' \
    "$scratch/text" || fail "$(cat "$scratch/text")"
"$relay" retry
RELAY_SPEAKS=1 worker_start retried --drain
worker_expect 0
expect 'the chain goes on from the dead run' 1 "$(grep -c '^finish .* 1 3 number-1$' "$scratch/retried")"
