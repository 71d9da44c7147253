#!/bin/sh
# SIGHUP is a stop with its grace period, twice too, and means nothing to a worker under nohup.
. "$(dirname "$0")/lib.sh"
store_start
cat >"$scratch/run_plain" <<END
#!/bin/sh
exec env --default-signal=HUP "$nap" "\$@"
END
cat >"$scratch/run_deaf" <<END
#!/bin/sh
trap '' HUP
exec "$nap" "\$@"
END
chmod +x "$scratch/run_plain" "$scratch/run_deaf"
real=$nap

# A closed terminal sends it twice: by the shell and by the kernel.
"$real" enqueue nap 1000
worker=$scratch/run_plain worker_start patient --grace 30s
wait_until 10 started patient 1
kill -HUP "$background"
wait_until 10 grep -q 'stopping: 1 runs' "$scratch/patient.log"
kill -HUP "$background"
worker_expect 0
expect 'finished within the grace' 'done attempt 1 losses 0 failures 0 crashes 0' "$("$real" state)"

worker=$scratch/run_deaf worker_start deaf
"$real" enqueue nap 300
wait_until 10 started deaf 1
kill -HUP "$background"
"$real" enqueue wink
two_are_done() { [ "$("$real" state | grep -c '^done attempt 1 ')" -ge 2 ]; }
wait_until 10 two_are_done
kill -TERM "$background"
worker_expect 0
