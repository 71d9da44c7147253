#!/bin/sh
# A worker by its configuration file: checked before, read again on SIGHUP, and what is wrong with it
# changes nothing.
. "$(dirname "$0")/lib.sh"
store_start
cd "$scratch"
cat >worker.conf <<END
# The store is where the environment says.
url = sqlite:elsewhere.db
concurrency = 3
queues = naps

[queue naps]
concurrency = 2
END

# refused WORDS: the check fails with status 2, and says so.
refused() {
    code=0
    "$nap" --config worker.conf --check-config >check 2>&1 || code=$?
    [ "$code" = 2 ] || { cat check >&2; fail "a bad file is checked with status $code"; }
    grep -qF "$1" check || { cat check >&2; fail "the check does not say: $1"; }
}

expect 'the check' 'nap: the configuration is good' "$("$nap" --config worker.conf --check-config)"
[ ! -e elsewhere.db ] || fail "the check has made a store"
cp worker.conf good.conf
echo 'wieght = 3' >>worker.conf
refused "worker.conf:8: unknown option 'wieght' of a queue; did you mean weight?"
refused '^~~~~~'
sed 's/queue naps/queue nasp/' good.conf >worker.conf
refused "there are options for queue 'nasp', and this worker serves no such queue; did you mean naps?"

# What the store's URL says needs no store to be judged.
url=$CULEX_URL
unset CULEX_URL
echo 'url = foo:bar' >worker.conf
refused "store URL has the unknown scheme 'foo'"
echo 'url-file = nowhere' >worker.conf
refused 'URL file nowhere: No such file or directory'
export CULEX_URL="$url"

# As many at a time as the queue may have, then as many as the worker; under nohup, too.
cp good.conf worker.conf
cat >run_deaf <<END
#!/bin/sh
trap '' HUP
exec "$nap" "\$@"
END
chmod +x run_deaf
for run in 1 2 3 4 5 6; do "$nap" enqueue nap 60000; done
worker=./run_deaf worker_start tuned --config worker.conf --grace 30s
at_work() { [ "$(grep -c '^start ' "$scratch/tuned")" -ge "$1" ]; }
wait_until 20 at_work 2
echo 'oops' >>worker.conf
kill -HUP "$background"
wait_until 20 grep -q 'nothing is changed: .*worker.conf:8: a line is NAME = VALUE' tuned.log
expect 'runs at a time' 2 "$(grep -c '^start ' tuned)"
sed 's/^concurrency = 2/weight = 1/' good.conf >worker.conf
kill -HUP "$background"
wait_until 20 grep -q 'configuration: queue naps: weight 1, no bound of its own' tuned.log
wait_until 20 at_work 3
expect 'runs at a time' 3 "$(grep -c '^start ' tuned)"

# Refused ones take nothing away that counts.
for round in 1 2 3; do
    sed 's/queue naps/queue nasp/' good.conf >worker.conf
    kill -HUP "$background"
    wait_until 20 sh -c "[ \$(grep -c 'options for queue .nasp., and this worker' tuned.log) = $round ]"
done

# The worker is not ended by that signal, and the grace period of the command line counts.
echo 'grace = 60s' | cat - good.conf >worker.conf
kill -HUP "$background"
wait_until 20 grep -q 'queue naps: weight 1, at most 2 at a time' tuned.log
! grep -q 'configuration: grace' tuned.log || fail "the file has overruled the command line"
! grep -q stopping tuned.log || fail "SIGHUP has stopped the worker"
kill -TERM "$background"
wait_until 10 grep -q 'stopping: 3 runs' tuned.log
kill -TERM "$background"
worker_expect 0
