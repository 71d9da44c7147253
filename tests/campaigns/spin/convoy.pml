/* convoy.pml - enqueue calls that go to the store together, whose answer gets lost or comes late.
 *
 * Question: does each call get one run, and can whoever was told that his call is unknown repeat it
 * by himself, in whichever order, whether the convoy came to the store before, between or after?
 * The store takes a convoy whole, and only while none of its calls is known or past.
 *
 * APART=1 (what ships): each call has a ticket of a producer of its own. APART=0: they are calls of
 * one producer, that follow each other, and the store knows each of the last convoy. With the
 * former `safe` holds in every interleaving; with the latter the checker finds an unknown call that
 * is refused, because another of its convoy was repeated first. The tests run both, the second to
 * see it fail.
 */
#ifndef APART
#define APART 1
#endif
#define CALLS 3
#define producer_of(call) (APART -> call : 0)
#define sequence_of(call) (APART -> 1 : call + 1)

bool is_flying = false;   /* the convoy */
bool is_over = false;     /* nobody waits for it any more */
bool is_known = false;    /* it was taken, and the store remembers it */
byte flying[CALLS];       /* requests of calls alone, on their way, in any order */
bool answered[CALLS], unknown[CALLS];
byte runs[CALLS];
byte last[CALLS];         /* sequence of each producer's last call; 0: none yet */
bool refused = false;     /* the repeat of an unknown call */

inline convoy_take()
{
    is_flying = false;
    if
    :: last[0] == 0 && last[1] == 0 && last[2] == 0 ->
           runs[0]++; runs[1]++; runs[2]++;
           if
           :: APART == 1 -> last[0] = 1; last[1] = 1; last[2] = 1
           :: else -> last[0] = CALLS; is_known = true
           fi;
           if
           :: !is_over -> answered[0] = true; answered[1] = true; answered[2] = true
           :: skip                            /* the answer gets lost */
           fi
    :: else                                   /* refused as a whole: each goes alone */
    fi
}

inline call_take(call)
{
    flying[call]--;
    if
    :: sequence_of(call) > last[producer_of(call)] ->
           last[producer_of(call)] = sequence_of(call);
           runs[call]++;
           if
           :: answered[call] = true
           :: skip
           fi
    :: sequence_of(call) == last[producer_of(call)] || is_known ->
           if
           :: answered[call] = true
           :: skip
           fi
    :: else ->
           if
           :: unknown[call] && !answered[call] -> refused = true
           :: else
           fi
    fi
}

active proctype store()
{
end:
    do
    :: atomic { is_flying -> convoy_take() }
    :: atomic { flying[0] > 0 -> call_take(0) }
    :: atomic { flying[1] > 0 -> call_take(1) }
    :: atomic { flying[2] > 0 -> call_take(2) }
    od
}

/* One try; then it is the callers' own affair. */
active proctype leader()
{
    is_flying = true;
    atomic {
        is_over = true;
        unknown[0] = !answered[0]; unknown[1] = !answered[1]; unknown[2] = !answered[2]
    }
}

/* Each thread, and later whoever has its ticket, repeats its call again and again. */
active proctype callers()
{
end:
    do
    :: atomic { unknown[0] && flying[0] < 2 -> flying[0]++ }
    :: atomic { unknown[1] && flying[1] < 2 -> flying[1]++ }
    :: atomic { unknown[2] && flying[2] < 2 -> flying[2]++ }
    od
}

ltl safe { [] (!refused && runs[0] <= 1 && runs[1] <= 1 && runs[2] <= 1) }
