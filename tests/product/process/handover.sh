#!/bin/sh
# What a worker gives back at its end is taken by an idle one at once, though the one that leaves
# began to wait for work earlier.
. "$(dirname "$0")/lib.sh"
store_start

# both_wait: two workers wait for work in the store.
both_wait() {
    case $store in
    sqlite) [ "$(find "$scratch/jobs.db.d" -type s | wc -l)" = 2 ] ;;
    redis) [ "$(redis-cli -s "$scratch/redis.sock" client list | grep -c cmd=blpop)" = 2 ] ;;
    esac
}

now_ms() { date +%s%3N; }

# handover NAME JOB SIGNAL: worker NAME has begun JOB when a second one comes, and then ends; what
# SIGNAL kills is the worker (TERM) or what starts its handlers (KILL).
handover() {
    "$nap" enqueue "$2"
    worker_start "$1" --concurrency 2 --grace 100ms --lease 60s
    leaving=$background
    wait_until 10 started "$1" 1
    worker_start "$1-second" --concurrency 2
    second=$background
    wait_until 10 both_wait
    target=$leaving
    [ "$3" = TERM ] || target=$(cat /proc/"$leaving"/task/*/children | cut -d' ' -f1)
    kill "-$3" "$target"
    wait "$leaving" || true
    left_ms=$(now_ms)
    wait_until 10 started "$1-second" 2
    took_ms=$(($(sed -n 's/^start 2 [0-9]* //p' "$scratch/$1-second") - left_ms))
    echo "$store: $1: taken $took_ms ms after the other worker's end"
    [ "$took_ms" -lt 400 ] || fail "$1: taken after $took_ms ms"
    kill -TERM "$second"
    worker_expect 0
}

handover zygote nap KILL
handover stopped ox TERM
