/* ticket.pml - enqueue calls whose answers get lost, and requests that arrive late or twice.
 *
 * Question: does each order get one run, and can whoever holds the ticket of an unknown call always
 * repeat it? The store remembers the last call of each producer and nothing else.
 *
 * LEAVE=0: a client goes on as the same producer after a call that stayed unknown. LEAVE=1 (what
 * ships): as another. With it `safe` holds in every interleaving; without it the checker finds an
 * unknown call that is refused, because a later one has taken its place. The tests run both, the
 * second to see it fail.
 */
#ifndef LEAVE
#define LEAVE 1
#endif
#define ORDERS 3

byte producer_of[ORDERS], sequence_of[ORDERS]; /* the ticket of each order */
byte flying[ORDERS];                           /* its requests on their way, in any order */
bool answered[ORDERS], unknown[ORDERS];
byte runs[ORDERS];
byte last[ORDERS + 1]; /* sequence of each producer's last call; 0: none yet */
bool refused = false;  /* the repeat of an unknown call */

inline take(order)
{
    flying[order]--;
    if
    :: sequence_of[order] > last[producer_of[order]] ->
           last[producer_of[order]] = sequence_of[order];
           runs[order]++;
           if
           :: answered[order] = true
           :: skip                            /* the answer gets lost */
           fi
    :: sequence_of[order] == last[producer_of[order]] ->
           if
           :: answered[order] = true
           :: skip
           fi
    :: else ->
           if
           :: unknown[order] && !answered[order] -> refused = true
           :: else                            /* a late copy that nobody waits for */
           fi
    fi
}

active proctype store()
{
end:
    do
    :: atomic { flying[0] > 0 -> take(0) }
    :: atomic { flying[1] > 0 -> take(1) }
    :: atomic { flying[2] > 0 -> take(2) }
    od
}

active proctype client()
{
    byte order = 0, producer = 1, sequence = 0;
    do
    :: order == ORDERS -> break
    :: else ->
           atomic {
               sequence++;
               producer_of[order] = producer;
               sequence_of[order] = sequence;
               flying[order] = 1
           }
           do
           :: answered[order] -> break
           :: atomic { !answered[order] && flying[order] < 2 -> flying[order]++ }
           :: atomic { !answered[order] ->    /* its time is up */
                  unknown[order] = true;
                  if
                  :: LEAVE == 1 -> producer++; sequence = 0
                  :: else
                  fi }
              break
           od;
           order++
    od
}

/* Whoever holds the ticket of an unknown call repeats it, again and again. */
active proctype other()
{
end:
    do
    :: atomic { unknown[0] && flying[0] < 2 -> flying[0]++ }
    :: atomic { unknown[1] && flying[1] < 2 -> flying[1]++ }
    :: atomic { unknown[2] && flying[2] < 2 -> flying[2]++ }
    od
}

ltl safe { [] (!refused && runs[0] <= 1 && runs[1] <= 1 && runs[2] <= 1) }
