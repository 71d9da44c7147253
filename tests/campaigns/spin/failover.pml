/* failover.pml - the same run on a store that is replicated behind its back.
 *
 * A replica may lag, and a failover promotes it: claims are rolled back, so attempt numbers repeat.
 *
 * TOKEN=0: a result carries the attempt number only. TOKEN=1 (what ships): it carries the
 * claiming session's random token too. Only the second is safe; the tests run both.
 */
#ifndef TOKEN
#define TOKEN 1
#endif
#define CLAIMS_MAX 8
#define FAILOVERS_MAX 2

mtype = { WAITING, ACTIVE, DONE };

mtype state = WAITING, copy_state = WAITING;
byte attempt = 0, copy_attempt = 0;
byte owner = 0, copy_owner = 0;
byte tokens = 0;    /* handed out so far: each claim draws a fresh one */
byte failovers = 0;
bool wrong = false; /* a result was recorded for somebody else's claim */

active [3] proctype worker()
{
    byte mine = 0, token = 0;
    bool busy = false;
end:
    do
    :: atomic { !busy && state == WAITING && tokens < CLAIMS_MAX ->
           tokens++; token = tokens; attempt++; mine = attempt; owner = token;
           state = ACTIVE; busy = true }
    :: atomic { busy ->
           if
           :: state == ACTIVE && mine == attempt && (TOKEN == 0 || owner == token) ->
                  if
                  :: owner != token -> wrong = true
                  :: else
                  fi;
                  state = DONE
           :: else
           fi;
           busy = false }
    :: atomic { busy -> busy = false }
    od
}

active proctype replication()
{
end:
    do
    :: atomic { copy_state != state || copy_attempt != attempt || copy_owner != owner ->
           copy_state = state; copy_attempt = attempt; copy_owner = owner }
    od
}

active proctype failover()
{
    do
    :: atomic { failovers < FAILOVERS_MAX ->
           failovers++; state = copy_state; attempt = copy_attempt; owner = copy_owner }
    :: failovers >= FAILOVERS_MAX -> break
    od
}

active proctype reaper()
{
end:
    do
    :: atomic { state == ACTIVE -> state = WAITING; owner = 0 }
    od
}

ltl safe { [] (!wrong) }
