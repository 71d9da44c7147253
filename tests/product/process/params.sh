#!/bin/sh
# A handler that puts a [[secret]] param into its texts tells nobody. usage: params.sh REPOSITORY BUILD STORE
. "$(dirname "$0")/lib.sh"
store_start
token=hunter2-0f3a9c
for isolation in process none; do
    "$nap" enqueue tell "isolation $isolation: the server does not take $token as a password" "$token"
    worker_start "$isolation" --drain --isolation "$isolation"
    worker_expect 0
    ! grep "$token" "$scratch/$isolation.log" || fail "$isolation: in the log"
    log_has "$isolation" 'attempt 1 isolation .* does not take \[secret\] as a password'
    log_has "$isolation" 'dead: .* does not take \[secret\] as a password'
    text_has "isolation $isolation: the server does not take \[secret\] as a password"
done
! grep "$token" "$scratch/text" || fail 'in the store'
