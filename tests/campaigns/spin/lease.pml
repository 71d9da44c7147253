/* lease.pml - one run, three workers, leases that may end at any moment.
 *
 * Question: can a result be recorded by a worker that does not hold the run any more?
 * Leases are the only clock here and it is the worst one: the reaper may strike whenever it likes.
 *
 * FENCE=0: the store looks at the state only. FENCE=1 (what ships): the result must carry the
 * attempt number of the present claim. With the fence, `safe` holds in every interleaving;
 * without it the checker finds a trace. The tests run both, the second to see it fail.
 */
#ifndef FENCE
#define FENCE 1
#endif
#define ATTEMPTS_MAX 4

mtype = { WAITING, ACTIVE, DONE, DEAD };

mtype state = WAITING;
byte attempt = 0;     /* claims so far */
byte completions = 0; /* recorded results */
bool wrong = false;   /* a result was recorded for a claim that was over */

active [3] proctype worker()
{
    byte mine = 0;
    bool busy = false;
end:
    do
    :: atomic { !busy && state == WAITING ->
           attempt++; mine = attempt; state = ACTIVE; busy = true }
    :: atomic { busy ->                       /* the result arrives, early or late */
           if
           :: state == ACTIVE && (FENCE == 0 || mine == attempt) ->
                  if
                  :: mine != attempt -> wrong = true
                  :: else
                  fi;
                  state = DONE; completions++
           :: else                            /* stale: refused, nothing changes */
           fi;
           busy = false }
    :: atomic { busy -> busy = false }        /* killed: no result ever */
    od
}

/* Leases run out: back to waiting, or dead when too many were lost. */
active proctype reaper()
{
end:
    do
    :: atomic { state == ACTIVE ->
           if
           :: attempt >= ATTEMPTS_MAX -> state = DEAD
           :: else -> state = WAITING
           fi }
    od
}

ltl safe { [] (!wrong && completions <= 1) }
