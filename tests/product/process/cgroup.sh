#!/bin/sh
# A worker whose --cgroup cannot be used is refused, with what to do; without one it says how far the
# memory limit of a job holds. (What groups do is tested by isolation/test_cgroup.c.)
. "$(dirname "$0")/lib.sh"
store_start

# refuse WORDS OPTION...: the worker does not start, and says so.
refuse() {
    words=$1
    shift
    worker_start refused "$@"
    worker_expect 2
    log_has refused "$words"
}

refuse 'cgroup /no/such/folder: No such file or directory' --cgroup /no/such/folder
refuse "cgroup $scratch: not a directory of cgroup v2" --cgroup "$scratch"
CULEX_CGROUP=$scratch refuse 'with isolation none there are none' --isolation none
if "$nap" --doctor --cgroup "$scratch" >"$scratch/doctor"; then fail 'the doctor finds the folder good'; fi
grep -q "^error *cgroup .*not a directory of cgroup v2" "$scratch/doctor" || fail 'the doctor says nothing of the folder'

"$nap" enqueue wink
worker_start alone --drain
worker_expect 0
log_has alone 'the memory limit of job bomb bounds each process of a run by itself; --cgroup DIR bounds them together'
