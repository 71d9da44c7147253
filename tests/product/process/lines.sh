#!/bin/sh
# Log lines that a run keeps: the last ones of all its attempts, whatever the worker's log takes, with
# what each has failed by, and all that its handler wrote before it crashed. usage: lines.sh REPOSITORY BUILD STORE
. "$(dirname "$0")/lib.sh"
store_start
for isolation in process none; do
    "$nap" enqueue scribe 9 done
    "$nap" enqueue scribe 1 fails hunter22
    "$nap" --drain --isolation "$isolation" --log-level error 2>"$scratch/log" || fail "$(cat "$scratch/log")"
    ! grep -q 'of 9\|last words' "$scratch/log" || fail 'the worker logs what is below its level'
    expect "the last five, and both attempts, under $isolation" '1 4 6 of 9  
1 4 7 of 9  
1 4 8 of 9  
1 4 9 of 9  
1 2 last words
1 2 last words
1 1 failed: the handler gave no reason
2 4 1 of 1 [secret] 
2 2 last words
2 1 failed: the handler gave no reason' "$("$nap" lines)"
    "$nap" forget
    expect "what is left of them under $isolation" '' "$("$nap" lines)"
done

# A crash takes nothing along, however much was written right before it.
"$nap" enqueue scribe 20000 crashes
"$nap" --drain 2>"$scratch/log" || fail "$(cat "$scratch/log")"
grep -q 'SIGSEGV' "$scratch/log" || fail "no crash: $(cat "$scratch/log")"
expect 'before the crash' '2 4 19998 of 20000  
2 4 19999 of 20000  
2 4 20000 of 20000  
2 2 last words
2 1 crashed: killed by SIGSEGV' "$("$nap" lines | sed 's/SIGSEGV.*/SIGSEGV/')"
