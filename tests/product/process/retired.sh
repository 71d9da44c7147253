#!/bin/sh
# Runs of a retired job that were still queued: dead at once, and the text says why.
. "$(dirname "$0")/lib.sh"
store_start
"$nap" enqueue gone
worker_start only --drain
worker_expect 0
expect states 'dead attempt 1 losses 0 failures 1 crashes 0' "$("$nap" state)"
text_has '^the job is retired$'
