/* sim/hands.c - the executor of a simulated worker: handlers that take virtual time.
 *
 * A handler's fate is drawn when it starts. It runs through the shipped culex__run_execute, at
 * the instant at which it ends. Half of the worlds' workers have hands that can kill, as child
 * processes can be killed, and do so at run->lease_ns by themselves even while the worker stands
 * still; the others are as threads. */
#include <stdlib.h>
#include <string.h>

#include "cast.h"
#include "hands.h"
#include "worker/flight_pool.h"

enum { HANDS_MAX = 64 };

struct hand {
    struct culex_run *run; /* NULL: free */
    uint64_t token;
    enum sim_fate fate;
    int64_t started_ns, kill_ns;
    int64_t units;
    bool is_killed;
};

struct sim_hands {
    struct culex_executor base;
    struct sim_process *process;
    const struct culex_env *env;
    culex_arena *arena;
    struct hand hands[HANDS_MAX];
    size_t count;
    uint64_t tokens;
    struct culex_run *first, *last; /* to start */
    size_t queued;
    struct culex_run *ended_first, *ended_last;
    bool is_healed, is_over;
    bool is_brisk; /* its runs are short, so the worker asks for more than it has hands */
    struct hand *acting;
    int64_t lease_ms;
};

static void list_push(struct culex_run **first, struct culex_run **last, struct culex_run *run)
{
    run->next = NULL;
    if (*last != NULL)
        (*last)->next = run;
    else
        *first = run;
    *last = run;
}

static struct culex_run *list_pop(struct culex_run **first, struct culex_run **last)
{
    struct culex_run *run = *first;
    if (run == NULL)
        return NULL;
    *first = run->next;
    if (*first == NULL)
        *last = NULL;
    return run;
}

/* --- fates --------------------------------------------------------------------------------- */

static enum sim_fate fate_draw(struct sim_hands *hands, const struct culex_run *run)
{
    struct sim_random *random = &hands->process->world->random;
    int64_t draw = sim_below(random, 1000);
    if (!hands->is_healed && hands->process->world->is_murderous && draw < 850)
        return SIM_FATE_NEVER;
    /* Some runs are poison: they kill whatever executes them; on a thread that is the worker. */
    if (!hands->is_healed && run->facts.id.b[15] % 32 == 0)
        return hands->base.ops->can_kill ? SIM_FATE_CRASH : SIM_FATE_MURDER;
    if (hands->is_healed || draw < 600)
        return SIM_FATE_DONE;
    return draw < 740   ? SIM_FATE_FAIL
           : draw < 850 ? SIM_FATE_CRASH
           : draw < 880 ? SIM_FATE_DISCARD
           : draw < 960 ? SIM_FATE_SNOOZE
           : draw < 985 ? SIM_FATE_RESULT
                        : SIM_FATE_NEVER;
}

static int64_t span_draw(struct sim_hands *hands)
{
    struct sim_random *random = &hands->process->world->random;
    int64_t draw = sim_below(random, 100);
    if (hands->is_healed)
        return sim_between(random, 0, 20) * SIM_MS;
    return draw < 40 || hands->is_brisk ? sim_between(random, 1, 900) * SIM_US
           : draw < 70                  ? sim_between(random, 1, 100) * SIM_MS
           : draw < 92                  ? sim_between(random, 100, 1500) * SIM_MS
                                        : sim_between(random, 1, 4) * hands->lease_ms * SIM_MS;
}

static const char *session_of(const struct culex_run *run, char ret_session[CULEX_FENCE_SIZE]);

/* Into the queue of the run, or the other one. */
static void follow_up_ask(culex_run *run, struct sim_process *process, int64_t number)
{
    const struct sim_cast *cast = process->world->cast;
    struct sim_random *random = &process->world->random;
    static const int choice[] = {0, 1, 2, 4};
    const culex_job_type *type = &cast->jobs[choice[sim_below(random, 4)]];
    culex_enqueue_options options = culex_enqueue_options_make();
    culex_error error = {0};
    options.has_delay = sim_chance(random, 250);
    int64_t delay_ms = options.has_delay ? sim_between(random, 0, 2000) : 0;
    options.delay = culex_milliseconds(delay_ms);
    struct number params = {sim_follow_add(process->world->oracle, number, type->queue, delay_ms)};
    if (culex_run_enqueue(run, type, &params, &options, &error) != CULEX_OK)
        sim_violation(process->world->oracle, &run->facts.id, "no follow-up: %s", error.text);
}

static void follow_ups_ask(culex_run *run, struct sim_process *process)
{
    struct sim_world *world = process->world;
    char session[CULEX_FENCE_SIZE];
    if (!sim_chance(&world->random, sim_is_plain(world) ? 30 : 120))
        return;
    int64_t number =
        sim_follow_ask(world->oracle, run->facts.id, run->facts.attempt, session_of(run, session));
    for (int64_t left = sim_between(&world->random, 1, SIM_FOLLOW_UPS_MAX); left > 0; left--)
        follow_up_ask(run, process, number);
}

culex_outcome sim_handler_call(culex_run *run, culex_handler_fn handler, const void *params,
                               void *user)
{
    struct sim_process *process = user;
    (void)handler;
    follow_ups_ask(run, process);
    switch (process->hands->acting->fate) {
    case SIM_FATE_FAIL:
        return culex_run_fail(run, "not this time");
    case SIM_FATE_DISCARD:
        return culex_run_discard(run, "pointless");
    case SIM_FATE_SNOOZE:
        SOMETIMES(SNOOZED);
        return culex_run_snooze(run,
                                sim_between(&process->world->random, 0, 2000) * CULEX_MILLISECOND);
    case SIM_FATE_RESULT:
        sim_may_fail(culex_run_set_result(run, run->job.type->result, params, NULL));
        return CULEX_DONE;
    default:
        return CULEX_DONE;
    }
}

/* --- starting and ending ------------------------------------------------------------------- */

static struct hand *hand_find(struct sim_hands *hands, uint64_t token);
static void end_event(struct sim_world *world, void *subject, uint64_t token,
                      struct sim_bytes *bytes);
static void kill_event(struct sim_world *world, void *subject, uint64_t token,
                       struct sim_bytes *bytes);

static int64_t lease_of(const struct culex_run *run)
{
    return atomic_load_explicit(&run->lease_ns, memory_order_relaxed);
}

static int64_t now_or_later(const struct sim_world *world, int64_t at_ns)
{
    return at_ns > world->now_ns ? at_ns : world->now_ns;
}

static void lease_watch(struct sim_hands *hands, const struct hand *hand)
{
    struct sim_world *world = hands->process->world;
    if (hands->base.ops->can_kill)
        sim_at(world, now_or_later(world, lease_of(hand->run)), kill_event, hands, hand->token,
               NULL);
}

/* The handler says how far it is, and asks for more time, as it would in the middle. */
static void news_event(struct sim_world *world, void *subject, uint64_t token,
                       struct sim_bytes *bytes)
{
    struct sim_hands *hands = subject;
    char words[40];
    (void)bytes;
    const struct hand *hand = hands->is_over ? NULL : hand_find(hands, token);
    if (hand == NULL || hands->process->is_killed || sim_process_is_paused(hands->process))
        return;
    snprintf(words, sizeof words, "50 attempt %u", (unsigned)hand->run->facts.attempt);
    culex__news_progress(&hand->run->news, words);
    if (sim_chance(&world->random, 500))
        culex__news_extend(&hand->run->news, hand->run->log->env,
                           sim_between(&world->random, 1, 4000));
    sim_process_poke(hands->process);
}

static void news_plan(struct sim_hands *hands, const struct hand *hand)
{
    struct sim_world *world = hands->process->world;
    while (sim_chance(&world->random, 300))
        sim_after(world, sim_between(&world->random, 0, 2 * hands->lease_ms) * SIM_MS, news_event,
                  hands, hand->token);
}

/* The session that it was granted to: its worker may live under another one by now. */
static const char *session_of(const struct culex_run *run, char ret_session[CULEX_FENCE_SIZE])
{
    return strcpy(ret_session, strrchr(run->terms.fence, '-') + 1);
}

/* A run whose time is over before it starts goes back as it came. */
static bool give_back(struct sim_hands *hands, struct culex_run *run)
{
    if (!culex_run_cancelled(run) && hands->process->world->now_ns < lease_of(run))
        return false;
    SOMETIMES(GIVEN_BACK_BEFORE_ITS_START);
    run->end = (struct culex_execution_end){.event = CULEX_EVENT_RELEASE};
    list_push(&hands->ended_first, &hands->ended_last, run);
    return true;
}

/* No more units are in use than the worker offers. */
static void units_check(const struct sim_hands *hands, const struct hand *starting)
{
    const struct sim_process *process = hands->process;
    int64_t sum = 0;
    for (size_t i = 0; i < hands->count; i++)
        sum += hands->hands[i].run != NULL ? hands->hands[i].units : 0;
    if (starting->units > 0 && sum > process->units)
        sim_violation(process->world->oracle, &starting->run->facts.id,
                      "%s offers %lld units, and %lld are in use", process->name,
                      (long long)process->units, (long long)sum);
    if (starting->units > 0)
        SOMETIMES(UNITS_ARE_IN_USE);
    if (starting->units == 1 && sum == 2)
        SOMETIMES(UNITS_ARE_SHARED);
}

static void hand_start(struct sim_hands *hands, struct hand *hand, struct culex_run *run)
{
    const struct sim_record *record = sim_oracle_find(hands->process->world->oracle, run->facts.id);
    struct sim_world *world = hands->process->world;
    *hand = (struct hand){.run = run,
                          .token = ++hands->tokens,
                          .fate = fate_draw(hands, run),
                          .started_ns = world->now_ns,
                          .kill_ns = INT64_MAX,
                          .units = record != NULL ? record->units : 0};
    units_check(hands, hand);
    lease_watch(hands, hand);
    news_plan(hands, hand);
    atomic_store_explicit(&run->started_ns, world->now_ns, memory_order_relaxed);
    char session[CULEX_FENCE_SIZE];
    sim_oracle_begun(world->oracle, run->facts.id, run->facts.attempt, session_of(run, session));
    if (hand->fate == SIM_FATE_NEVER) {
        SOMETIMES(HANDLER_NEVER_RETURNS);
        return;
    }
    sim_after(world, span_draw(hands), end_event, hands, hand->token);
}

static void hands_fill(struct sim_hands *hands)
{
    size_t i = 0;
    /* Nobody starts anything for a worker that stands still. */
    while (!sim_process_is_paused(hands->process) && i < hands->count && hands->first != NULL) {
        if (hands->hands[i].run != NULL) {
            i++;
            continue;
        }
        struct culex_run *run = list_pop(&hands->first, &hands->last);
        hands->queued--;
        if (!give_back(hands, run))
            hand_start(hands, &hands->hands[i], run);
    }
}

static void crash(struct culex_run *run, const char *text)
{
    run->end = (struct culex_execution_end){.event = CULEX_EVENT_CRASH, .text = text};
}

static void hand_end(struct sim_hands *hands, struct hand *hand)
{
    struct culex_run *run = hand->run;
    bool is_cancelled = culex_run_cancelled(run);
    int64_t lease_ns = lease_of(run);
    hands->acting = hand;
    if (hand->is_killed) {
        crash(run, "killed by SIGKILL");
    } else if (hand->fate == SIM_FATE_CRASH) {
        crash(run, "killed by SIGSEGV");
    } else {
        /* The flag and the lease are looked at before the start; here that was long ago. */
        atomic_store_explicit(&run->is_cancelled, false, memory_order_relaxed);
        atomic_store_explicit(&run->lease_ns, 0, memory_order_relaxed);
        culex__run_execute(run, hands->arena, hands->env);
        atomic_store_explicit(&run->lease_ns, lease_ns, memory_order_relaxed);
        atomic_store_explicit(&run->is_cancelled, is_cancelled, memory_order_relaxed);
    }
    atomic_store_explicit(&run->started_ns, hand->started_ns, memory_order_relaxed);
    run->end.ended_ns = hands->process->world->now_ns;
    run->end.duration_ns = run->end.ended_ns - hand->started_ns;
    hand->run = NULL;
    list_push(&hands->ended_first, &hands->ended_last, run);
    hands_fill(hands);
    sim_process_poke(hands->process);
}

static struct hand *hand_find(struct sim_hands *hands, uint64_t token)
{
    for (size_t i = 0; i < hands->count; i++) {
        if (hands->hands[i].run != NULL && hands->hands[i].token == token)
            return &hands->hands[i];
    }
    return NULL;
}

static void end_event(struct sim_world *world, void *subject, uint64_t token,
                      struct sim_bytes *bytes)
{
    struct sim_hands *hands = subject;
    (void)bytes;
    struct hand *hand = hands->is_over ? NULL : hand_find(hands, token);
    if (hand == NULL || hands->process->is_killed)
        return;
    if (sim_process_is_paused(hands->process)) {
        sim_at(world, hands->process->paused_until_ns, end_event, hands, token, NULL);
        return;
    }
    if (hand->fate == SIM_FATE_MURDER && !hands->is_healed) {
        char session[CULEX_FENCE_SIZE];
        sim_oracle_murder(world->oracle, hand->run->facts.id, session_of(hand->run, session));
        sim_cast_poison(world, hands->process);
        return;
    }
    hand_end(hands, hand);
}

static void kill_event(struct sim_world *world, void *subject, uint64_t token,
                       struct sim_bytes *bytes)
{
    struct sim_hands *hands = subject;
    (void)bytes;
    struct hand *hand = hands->is_over ? NULL : hand_find(hands, token);
    if (hand == NULL || hands->process->is_killed ||
        (world->now_ns < hand->kill_ns && world->now_ns < lease_of(hand->run)))
        return;
    if (world->now_ns < hand->kill_ns)
        SOMETIMES(KILLED_AT_LEASE);
    hand->is_killed = true;
    hand_end(hands, hand);
}

/* --- the table ----------------------------------------------------------------------------- */

static int hands_fd(struct culex_executor *executor)
{
    (void)executor;
    return SIM_FD_HANDS;
}

bool sim_hands_are_full(const struct sim_hands *hands)
{
    return hands != NULL && hands->ended_first != NULL;
}

static void hands_submit(struct culex_executor *executor, struct culex_run *const *runs,
                         size_t count)
{
    struct sim_hands *hands = (struct sim_hands *)executor;
    const struct sim_process *process = hands->process;
    char session[CULEX_FENCE_SIZE];
    for (size_t i = 0; i < count; i++) {
        if (!process->is_killed)
            sim_oracle_started(process->world->oracle, runs[i]->facts.id, runs[i]->facts.attempt,
                               session_of(runs[i], session));
        list_push(&hands->first, &hands->last, runs[i]);
        hands->queued++;
    }
    hands_fill(hands);
}

/* The engine drops what ended after the lease; it may not take its lease for shorter than it is:
 * 0.9 of it from the last heartbeat, or of the slack after the timeout. */
static bool is_late(const struct sim_hands *hands, struct culex_run *run)
{
    const struct culex_flight *flight = culex__flight_of(run);
    int64_t started_ns = atomic_load_explicit(&run->started_ns, memory_order_relaxed);
    int64_t lease_ns = lease_of(run);
    if (started_ns == 0 || run->end.ended_ns < lease_ns)
        return false;
    if (lease_ns < flight->beat_ns + hands->lease_ms * 9 / 10 * SIM_MS &&
        lease_ns < flight->told_ns + CULEX_TIMEOUT_SLACK_MS * 9 / 10 * SIM_MS)
        sim_violation(hands->process->world->oracle, &run->facts.id,
                      "a lease is taken for over too early");
    return true;
}

static size_t hands_collect(struct culex_executor *executor, struct culex_run **ret_runs,
                            size_t max)
{
    struct sim_hands *hands = (struct sim_hands *)executor;
    const struct sim_process *process = hands->process;
    char session[CULEX_FENCE_SIZE];
    size_t count = 0;
    hands_fill(hands);
    while (count < max && hands->ended_first != NULL) {
        struct culex_run *run = list_pop(&hands->ended_first, &hands->ended_last);
        bool is_aloft = culex__flight_of(run)->state == CULEX_FLIGHT_ALOFT;
        if (!is_aloft && !process->is_killed)
            sim_oracle_given_up(process->world->oracle, run->facts.id, run->facts.attempt,
                                session_of(run, session));
        if (is_aloft && !process->is_killed)
            sim_oracle_ended(process->world->oracle, run->facts.id, run->facts.attempt,
                             session_of(run, session), run->end.event, is_late(hands, run));
        ret_runs[count++] = run;
    }
    return count;
}

static size_t hands_withdraw(struct culex_executor *executor, struct culex_run **ret_runs,
                             size_t max)
{
    struct sim_hands *hands = (struct sim_hands *)executor;
    size_t count = 0, skip = hands->queued > max ? hands->queued - max : 0;
    struct culex_run *kept_first = NULL, *kept_last = NULL, *run;
    while ((run = list_pop(&hands->first, &hands->last)) != NULL) {
        if (skip > 0) {
            skip--;
            list_push(&kept_first, &kept_last, run);
        } else {
            ret_runs[count++] = run;
        }
    }
    hands->first = kept_first;
    hands->last = kept_last;
    hands->queued -= count;
    for (size_t i = 0; i < count / 2; i++) {
        run = ret_runs[i];
        ret_runs[i] = ret_runs[count - 1 - i];
        ret_runs[count - 1 - i] = run;
    }
    return count;
}

static size_t hands_queued(struct culex_executor *executor)
{
    return ((struct sim_hands *)executor)->queued;
}

static void hands_cancel(struct culex_executor *executor, struct culex_run *run, int64_t term_ns,
                         int64_t kill_ns)
{
    struct sim_hands *hands = (struct sim_hands *)executor;
    struct sim_world *world = hands->process->world;
    (void)term_ns;
    atomic_store_explicit(&run->is_cancelled, true, memory_order_relaxed);
    for (size_t i = 0; i < hands->count; i++) {
        struct hand *hand = &hands->hands[i];
        if (hand->run != run)
            continue;
        /* Most handlers look at the flag in time. */
        if (sim_chance(&world->random, 700))
            sim_after(world, sim_between(&world->random, 0, 300) * SIM_MS, end_event, hands,
                      hand->token);
        if (executor->ops->can_kill && kill_ns < hand->kill_ns) {
            hand->kill_ns = kill_ns;
            sim_at(world, now_or_later(world, kill_ns), kill_event, hands, hand->token, NULL);
        }
    }
}

static void hands_renew(struct culex_executor *executor, struct culex_run *run)
{
    struct sim_hands *hands = (struct sim_hands *)executor;
    for (size_t i = 0; i < hands->count; i++) {
        if (hands->hands[i].run == run)
            lease_watch(hands, &hands->hands[i]);
    }
}

static void list_free(struct culex_run *run)
{
    while (run != NULL) {
        struct culex_run *next = run->next;
        culex__run_free(run);
        run = next;
    }
}

static size_t hands_stop(struct culex_executor *executor, int64_t deadline_ns)
{
    struct sim_hands *hands = (struct sim_hands *)executor;
    size_t stuck = 0;
    (void)deadline_ns;
    for (size_t i = 0; i < hands->count; i++) {
        stuck += hands->hands[i].run != NULL;
        culex__run_free(hands->hands[i].run);
        hands->hands[i].run = NULL;
    }
    list_free(hands->first);
    list_free(hands->ended_first);
    culex_arena_free(hands->arena);
    hands->first = hands->last = hands->ended_first = hands->ended_last = NULL;
    hands->arena = NULL;
    hands->is_over = true;
    return stuck;
}

static const struct culex_executor_ops thread_ops = {
    .name = "threads",
    .fd = hands_fd,
    .submit = hands_submit,
    .collect = hands_collect,
    .withdraw = hands_withdraw,
    .queued = hands_queued,
    .cancel = hands_cancel,
    .stop = hands_stop,
};

static const struct culex_executor_ops process_ops = {
    .name = "process",
    .can_kill = true,
    .fd = hands_fd,
    .submit = hands_submit,
    .collect = hands_collect,
    .withdraw = hands_withdraw,
    .queued = hands_queued,
    .cancel = hands_cancel,
    .renew = hands_renew,
    .stop = hands_stop,
};

culex_status sim_hands_create(const struct culex_executor_config *config,
                              struct culex_executor **ret_executor, culex_error *error)
{
    struct sim_process *process = config->handler.env->self;
    struct sim_hands *hands = calloc(1, sizeof *hands);
    (void)error;
    if (hands == NULL || (hands->arena = culex_arena_create()) == NULL)
        abort();
    hands->base.ops = sim_chance(&process->world->random, 500) ? &thread_ops : &process_ops;
    hands->base.log = *config->handler.log;
    hands->process = process;
    hands->env = config->handler.env;
    hands->count = config->count < HANDS_MAX ? config->count : HANDS_MAX;
    hands->lease_ms = config->handler.lease_ms;
    hands->is_healed = process->world->is_healing;
    hands->is_brisk = sim_chance(&process->world->random, 250);
    process->hands = hands;
    *ret_executor = &hands->base;
    return CULEX_OK;
}

void sim_hands_free(struct sim_hands *hands)
{
    free(hands);
}

void sim_hands_heal(struct sim_hands *hands)
{
    struct sim_world *world = hands->process->world;
    hands->is_healed = true;
    for (size_t i = 0; i < hands->count && !hands->is_over; i++) {
        struct hand *hand = &hands->hands[i];
        if (hand->run == NULL)
            continue;
        hand->fate = SIM_FATE_DONE;
        sim_after(world, sim_between(&world->random, 1, 50) * SIM_MS, end_event, hands,
                  hand->token);
    }
}

void sim_hands_check(const struct sim_hands *hands, int64_t slack_ns)
{
    const struct sim_process *process = hands->process;
    struct sim_world *world = process->world;
    char session[CULEX_FENCE_SIZE];
    for (size_t i = 0; i < hands->count && !hands->is_over; i++) {
        const struct hand *hand = &hands->hands[i];
        const struct culex_run *run = hand->run;
        if (run == NULL || culex__flight_of(hand->run)->state != CULEX_FLIGHT_ALOFT ||
            hand->started_ns + slack_ns > world->now_ns)
            continue;
        if (sim_oracle_is_overdue(world->oracle, run->facts.id, run->facts.attempt,
                                  session_of(run, session), slack_ns))
            sim_violation(world->oracle, &run->facts.id,
                          "worker %s goes on with it long after its lease", process->name);
    }
}

size_t sim_hands_busy(const struct sim_hands *hands)
{
    size_t busy = 0;
    for (size_t i = 0; hands != NULL && i < hands->count; i++)
        busy += hands->hands[i].run != NULL;
    return busy;
}
