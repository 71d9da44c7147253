/* sim/enqueue.c - what ENQUEUE and ENQUEUE_EACH may be answered: tickets, keys, limits.
 *
 * The calls that an ENQUEUE_EACH carries, its riders, are judged each by itself: the run that one
 * is told of is new, its own and nobody else's, and whoever is told of none has a reason of his
 * own. All of them are refused only when that is said of the ticket of one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "books.h"

/* --- tickets ------------------------------------------------------------------------------- */

static void ticket_note(struct tickets *tickets, struct culex_ticket ticket)
{
    tickets->list = realloc(tickets->list, (tickets->count + 1) * sizeof *tickets->list);
    if (tickets->list == NULL)
        abort();
    tickets->list[tickets->count++] = ticket;
}

static bool is_noted(const struct tickets *tickets, struct culex_ticket ticket)
{
    for (size_t i = 0; i < tickets->count; i++) {
        if (tickets->list[i].producer == ticket.producer &&
            tickets->list[i].sequence == ticket.sequence)
            return true;
    }
    return false;
}

void sim_oracle_left(struct sim_oracle *oracle, struct culex_ticket ticket)
{
    ticket_note(&oracle->left, ticket);
}

/* Of this producer in this queue, at `sequence` or behind it; NULL when the store need know none.
 * By the store's clock: where that was further on once, and came back, it may have forgotten. */
static const struct order *order_find(const struct sim_oracle *oracle, const char *queue,
                                      struct culex_ticket ticket)
{
    for (size_t i = oracle->order_count; i-- > 0;) {
        const struct order *order = &oracle->orders[i];
        if (order->ticket.producer == ticket.producer && order->epoch == oracle->epoch &&
            order->ticket.sequence >= ticket.sequence && order->last_ms >= oracle->clock_max_ms &&
            strcmp(order->queue, queue) == 0)
            return order;
    }
    return NULL;
}

static bool is_replacing(const struct sim_call *call)
{
    return call->rider_count == 1 && call->riders[0].answer == 'R';
}

static void order_add(struct sim_oracle *oracle, struct culex_ticket ticket, culex_uuid first)
{
    const struct sim_call *call = &oracle->call;
    int64_t ticket_ms = culex__ticket_ms(ticket);
    oracle->orders = realloc(oracle->orders, (oracle->order_count + 1) * sizeof *oracle->orders);
    if (oracle->orders == NULL)
        abort();
    struct order *order = &oracle->orders[oracle->order_count++];
    *order = (struct order){.ticket = ticket,
                            .first = first,
                            .answer = is_replacing(call) ? 'R' : 'N',
                            .epoch = oracle->epoch,
                            .last_ms = (ticket_ms > call->now_ms ? ticket_ms : call->now_ms) +
                                       CULEX_TICKET_HORIZON_MS};
    strcpy(order->queue, call->queue);
    if (is_noted(&oracle->refused, ticket))
        sim_violation(oracle, &first, "a call that was refused for certain brings a run");
}

/* Its producer has called at this sequence or behind it, whatever has become of that. */
static bool is_past(const struct sim_oracle *oracle, struct culex_ticket ticket)
{
    for (size_t i = oracle->order_count; i-- > 0;) {
        const struct order *order = &oracle->orders[i];
        if (order->ticket.producer == ticket.producer &&
            order->ticket.sequence >= ticket.sequence &&
            strcmp(order->queue, oracle->call.queue) == 0)
            return true;
    }
    return false;
}

static bool is_of_another_time(const struct sim_call *call, struct culex_ticket ticket)
{
    int64_t off_ms = call->now_ms - culex__ticket_ms(ticket);
    return off_ms > CULEX_TICKET_HORIZON_MS || off_ms < -CULEX_TICKET_HORIZON_MS;
}

/* It has brought runs, long ago. */
static bool is_forgotten(const struct sim_oracle *oracle, const struct sim_call *call)
{
    for (size_t i = oracle->order_count; i-- > 0;) {
        const struct order *order = &oracle->orders[i];
        if (order->ticket.producer == call->ticket.producer &&
            order->ticket.sequence == call->ticket.sequence && order->epoch == oracle->epoch &&
            order->last_ms < call->now_ms && strcmp(order->queue, call->queue) == 0)
            return true;
    }
    return false;
}

bool sim_oracle_must_know(const struct sim_oracle *oracle, const char *queue, culex_uuid text,
                          culex_uuid *ret_first)
{
    struct culex_ticket ticket;
    if (!culex__ticket_parse(text, &ticket))
        return false;
    const struct order *order = order_find(oracle, queue, ticket);
    if (order == NULL || order->ticket.sequence != ticket.sequence)
        return false;
    *ret_first = order->first;
    return true;
}

void sim_oracle_refused(struct sim_oracle *oracle, const char *queue, culex_uuid text)
{
    struct culex_ticket ticket;
    culex_uuid first;
    if (sim_oracle_must_know(oracle, queue, text, &first))
        sim_violation(oracle, &first, "an enqueue that happened is refused for certain");
    if (culex__ticket_parse(text, &ticket))
        ticket_note(&oracle->refused, ticket);
}

/* --- keys ---------------------------------------------------------------------------------- */

/* What the store keeps of the rider's key, as far as the books know; NULL when they do not, for
 * there is none, or it is of a store that was rolled back. */
static struct keyed *kept_find(struct sim_oracle *oracle, const struct sim_rider *rider)
{
    struct keyed *kept = sim_keyed_find(&oracle->kept, rider->key);
    return kept->until_ms != INT64_MIN && kept->epoch == oracle->epoch ? kept : NULL;
}

/* Its key has brought it. Where the clock was further on once, and came back, the store may have
 * forgotten the one before. */
static void key_taken(struct sim_oracle *oracle, const struct sim_rider *rider)
{
    const struct keyed *before = kept_find(oracle, rider);
    if (before != NULL && before->until_ms > oracle->clock_max_ms)
        sim_violation(oracle, &rider->id, "the key %s brings a second run within its window",
                      rider->key);
    struct keyed *kept = sim_keyed_find(&oracle->kept, rider->key);
    kept->id = rider->id;
    kept->epoch = oracle->epoch;
    kept->until_ms = oracle->call.now_ms + rider->window_ms;
    strcpy(kept->payload, rider->payload);
}

/* Its key has led to another run. */
static void key_held(struct sim_oracle *oracle, const struct sim_rider *rider)
{
    if (rider->key[0] == '\0')
        sim_violation(oracle, &rider->id, "a call without a key is held off by one");
    const struct keyed *kept = kept_find(oracle, rider);
    if (kept == NULL)
        return;
    if (memcmp(&kept->id, &rider->id, sizeof kept->id) != 0)
        sim_violation(oracle, &rider->id, "a call is held off by another key than %s", rider->key);
    if (kept->until_ms <= oracle->call.now_ms)
        sim_violation(oracle, &rider->id, "a call is held off by a key whose window is over");
    if ((strcmp(kept->payload, rider->payload) == 0) != (rider->answer == 'D'))
        sim_violation(oracle, &rider->id,
                      "a call and the one before it with its key are compared "
                      "wrongly");
}

/* The rider's unique key has brought it, and is kept for its time from now on. Where the clock was
 * further on once, the one before may be forgotten. */
static void window_taken(struct sim_oracle *oracle, const struct sim_rider *rider)
{
    struct keyed *window = sim_keyed_find(&oracle->windows, rider->unique_key);
    if (window->epoch == oracle->epoch && window->until_ms > oracle->clock_max_ms)
        sim_violation(oracle, &rider->id, "the unique key %s brings a second run within its time",
                      rider->unique_key);
    if (window->until_ms != INT64_MIN)
        SOMETIMES(UNIQUE_WINDOW_OVER);
    window->id = rider->id;
    window->epoch = oracle->epoch;
    window->until_ms = oracle->call.now_ms + rider->unique_for_ms;
}

/* It has led to another run, whatever has become of that. */
static void window_held(struct sim_oracle *oracle, const struct sim_rider *rider)
{
    const struct keyed *window = sim_keyed_find(&oracle->windows, rider->unique_key);
    const struct run *holder = sim_run_find(oracle, rider->id);
    if (window->epoch != oracle->epoch || window->until_ms == INT64_MIN)
        return;
    if (memcmp(&window->id, &rider->id, sizeof window->id) != 0)
        sim_violation(oracle, &rider->id, "a call is refused for another key than %s",
                      rider->unique_key);
    if (window->until_ms <= oracle->call.now_ms)
        sim_violation(oracle, &rider->id, "a call is refused for a key whose time is over");
    if (holder != NULL && !sim_is_live(holder->record.state))
        SOMETIMES(UNIQUE_WINDOW_OUTLIVES_ITS_RUN);
}

/* --- riders -------------------------------------------------------------------------------- */

/* A new run is the rider's own, and nobody was told of it before. */
static void rider_new(struct sim_oracle *oracle, const struct sim_rider *rider)
{
    const struct sim_call *call = &oracle->call;
    struct run *run = sim_run_find(oracle, rider->id);
    if (run == NULL || run->birth != oracle->calls)
        sim_violation(oracle, &rider->id, "a call is answered with a run that it did not bring");
    if (strcmp(run->payload, rider->payload) != 0 ||
        strcmp(run->record.unique_key, rider->unique_key) != 0 ||
        run->record.state != (rider->delay_ms > 0 ? 'S' : 'W') ||
        (rider->delay_ms > 0 && run->record.at_ms != call->now_ms + rider->delay_ms))
        sim_violation(oracle, &rider->id, "a call is answered with the run of another: %s, not %s",
                      run->payload, rider->payload);
    run->birth = 0;
    if (rider->key[0] != '\0')
        key_taken(oracle, rider);
    if (rider->unique_key[0] == SIM_UNIQUE_WINDOW)
        window_taken(oracle, rider);
}

/* The run that holds its key is as it wants it; but one that waits, and is not to be delayed, keeps
 * its place. */
static void rider_replaces(struct sim_oracle *oracle, const struct sim_rider *rider)
{
    const struct sim_call *call = &oracle->call;
    const struct run *holder = sim_run_find(oracle, rider->id);
    if (rider->unique_key[0] != SIM_UNIQUE_REPLACED || holder == NULL ||
        !sim_is_sure_holder(&holder->record) ||
        strcmp(holder->record.unique_key, rider->unique_key) != 0)
        sim_violation(oracle, &rider->id, "a run is replaced that does not hold the key %s",
                      rider->unique_key);
    if (rider->delay_ms > 0 ? holder->record.at_ms != call->now_ms + rider->delay_ms
                            : holder->record.state == 'S' && holder->record.at_ms > call->now_ms)
        sim_violation(oracle, &rider->id, "a run that is replaced is not as it was wanted");
    if (call->replacements > 0 && memcmp(&call->first, &rider->id, sizeof rider->id) != 0)
        sim_violation(oracle, &rider->id, "another run is replaced than is told");
    SOMETIMES(UNIQUE_RUN_REPLACED);
}

static void rider_not_unique(struct sim_oracle *oracle, const struct sim_rider *rider)
{
    const struct run *holder = sim_run_find(oracle, rider->id);
    if (rider->unique_key[0] == '\0')
        sim_violation(oracle, &rider->id, "a call without a unique key is refused for one");
    if (rider->unique_key[0] == SIM_UNIQUE_WINDOW) {
        window_held(oracle, rider);
        return;
    }
    if (holder == NULL || !sim_is_live(holder->record.state) ||
        strcmp(holder->record.unique_key, rider->unique_key) != 0)
        sim_violation(oracle, &rider->id, "a call is refused for the key %s, which nobody holds",
                      rider->unique_key);
    if (rider->unique_key[0] == SIM_UNIQUE_REPLACED)
        sim_violation(oracle, &rider->id, "a call is refused that has to bring what it wanted");
}

static void rider_check(struct sim_oracle *oracle, const struct sim_rider *rider)
{
    switch (rider->answer) {
    case 'N':
        rider_new(oracle, rider);
        return;
    case 'D':
    case 'C':
        key_held(oracle, rider);
        return;
    case 'U':
        rider_not_unique(oracle, rider);
        return;
    case 'R':
        rider_replaces(oracle, rider);
        return;
    case 'F':
        return; /* limit_check */
    default:
        sim_violation(oracle, NULL, "a call gets no answer");
    }
}

static int64_t live_count(const struct sim_oracle *oracle)
{
    int64_t count = 0;
    for (size_t i = 0; i < oracle->run_count; i++) {
        const struct run *run = oracle->runs[i];
        count += sim_is_live(run->record.state) && strcmp(run->queue, oracle->call.queue) == 0;
    }
    return count;
}

static size_t answers_count(const struct sim_call *call, char letter)
{
    size_t count = 0;
    for (size_t i = 0; i < call->rider_count; i++)
        count += call->riders[i].answer == letter;
    return count;
}

/* By what there is behind the call: whoever came after the limit was reached brought nothing. */
static void limit_check(struct sim_oracle *oracle)
{
    const struct sim_call *call = &oracle->call;
    int64_t live = live_count(oracle);
    if (answers_count(call, 'F') > 0 && (call->capacity == 0 || live < call->capacity))
        sim_violation(oracle, NULL, "a queue of %" PRId64 " runs is full at %" PRId64, live,
                      call->capacity);
    if (answers_count(call, 'N') > 0 && call->capacity > 0 && live > call->capacity)
        sim_violation(oracle, NULL, "a queue of %" PRId64 " takes more than %" PRId64, live,
                      call->capacity);
}

static void riders_check(struct sim_oracle *oracle)
{
    const struct sim_call *call = &oracle->call;
    for (size_t i = 0; i < call->rider_count; i++)
        rider_check(oracle, &call->riders[i]);
    if (call->births != answers_count(call, 'N'))
        sim_violation(oracle, NULL, "%zu runs are new, %zu calls are told so", call->births,
                      answers_count(call, 'N'));
    if (call->replacements > answers_count(call, 'R'))
        sim_violation(oracle, &call->first, "a run is replaced, and nobody is told so");
    limit_check(oracle);
}

/* --- ENQUEUE ------------------------------------------------------------------------------- */

/* The answer to its repeat is that of the first time. */
static void repeat_check(struct sim_oracle *oracle, const struct order *order)
{
    const struct sim_call *call = &oracle->call;
    const struct sim_rider *rider = &call->riders[0];
    if (call->is_refused || call->is_too_old)
        sim_violation(oracle, NULL, "the repeat of a producer's last call is refused");
    if (call->rider_count == 1 && rider->answer != '\0' &&
        (rider->answer != order->answer ||
         memcmp(&rider->id, &order->first, sizeof rider->id) != 0))
        sim_violation(oracle, &order->first, "the repeat of a producer's last call is answered %c",
                      rider->answer);
    SOMETIMES(ENQUEUE_REPEATED);
    if (order->answer == 'R')
        SOMETIMES(UNIQUE_RUN_REPLACED_ONCE);
}

/* Beyond what the books know for certain, a store may remember calls, and answer their repeats. */
static void single_check(struct sim_oracle *oracle)
{
    const struct sim_call *call = &oracle->call;
    bool may_be_repeat = call->riders[0].answer == 'N' ? call->births == 0
                                                       : is_replacing(call) && call->changes == 0 &&
                                                             is_past(oracle, call->ticket);
    if (call->rider_count == 1 && call->riders[0].answer != '\0' && !may_be_repeat)
        riders_check(oracle);
}

static void ticket_check(struct sim_oracle *oracle)
{
    const struct sim_call *call = &oracle->call;
    const struct order *order = order_find(oracle, call->queue, call->ticket);
    bool is_last = order != NULL && order->ticket.sequence == call->ticket.sequence;
    if ((call->is_refused || call->is_too_old) && call->changes > 0)
        sim_violation(oracle, NULL, "a refused ticket brings runs");
    if (order != NULL && call->changes > 0)
        sim_violation(oracle, NULL,
                      is_last ? "one ticket brings runs twice"
                              : "a producer's older call brings runs");
    if (call->is_too_old)
        SOMETIMES(ENQUEUE_TOO_OLD);
    if (call->is_too_old && is_forgotten(oracle, call))
        SOMETIMES(PRODUCER_FORGOTTEN);
    if (order != NULL && !is_last && call->is_refused)
        SOMETIMES(ENQUEUE_NO_LONGER_THE_LAST);
    if (is_last)
        repeat_check(oracle, order);
    else if (!call->is_refused && !call->is_too_old)
        single_check(oracle);
    if (is_replacing(call) && !is_past(oracle, call->ticket))
        order_add(oracle, call->ticket, call->riders[0].id);
    else if (call->changes > 0)
        order_add(oracle, call->ticket, call->first);
}

/* --- ENQUEUE_EACH -------------------------------------------------------------------------- */

/* All of them, for what is to be said of one. */
static void each_refused(struct sim_oracle *oracle)
{
    const struct sim_call *call = &oracle->call;
    size_t reasons = 0;
    if (call->changes > 0)
        sim_violation(oracle, NULL, "refused tickets bring runs");
    for (size_t i = 0; i < call->rider_count; i++) {
        struct culex_ticket ticket = call->riders[i].ticket;
        reasons += call->is_refused ? is_past(oracle, ticket) : is_of_another_time(call, ticket);
    }
    if (reasons == 0)
        sim_violation(oracle, NULL, "calls are refused of which none is %s",
                      call->is_refused ? "known" : "of another time");
    if (call->is_too_old)
        SOMETIMES(EACH_TOO_OLD);
    else if (is_noted(&oracle->left, call->riders[0].ticket))
        SOMETIMES(EACH_COMES_LATE);
    else
        SOMETIMES(EACH_REPEATED_IN_COMPANY);
}

static void each_ticket_check(struct sim_oracle *oracle, const struct sim_rider *rider)
{
    const struct order *order = order_find(oracle, oracle->call.queue, rider->ticket);
    if (order != NULL)
        sim_violation(oracle, &order->first, "a call that is known is done again in company");
    if (is_of_another_time(&oracle->call, rider->ticket))
        sim_violation(oracle, NULL, "a call of another time is done in company");
}

static void each_count(const struct sim_call *call)
{
    size_t news = answers_count(call, 'N');
    SOMETIMES(EACH_SENT);
    if (news > 0 && news < call->rider_count)
        SOMETIMES(EACH_RIDER_REFUSED);
    if (news > 0 && answers_count(call, 'F') > 0)
        SOMETIMES(EACH_RIDER_BEYOND_THE_LIMIT);
    if (news > 0 && answers_count(call, 'U') > 0)
        SOMETIMES(EACH_RIDER_NOT_UNIQUE);
    if (news > 0 && answers_count(call, 'D') > 0)
        SOMETIMES(EACH_RIDER_HELD_OFF_BY_ITS_KEY);
    if (news > 0 && answers_count(call, 'C') > 0)
        SOMETIMES(EACH_RIDER_IN_CONFLICT);
}

static void each_taken(struct sim_oracle *oracle)
{
    const struct sim_call *call = &oracle->call;
    for (size_t i = 0; i < call->rider_count; i++)
        each_ticket_check(oracle, &call->riders[i]);
    riders_check(oracle);
    for (size_t i = 0; i < call->rider_count; i++) {
        if (call->riders[i].answer == 'N')
            order_add(oracle, call->riders[i].ticket, call->riders[i].id);
    }
    each_count(call);
}

void sim_enqueue_check(struct sim_oracle *oracle)
{
    const struct sim_call *call = &oracle->call;
    if (call->verb == SIM_EACH && (call->is_refused || call->is_too_old))
        each_refused(oracle);
    else if (call->verb == SIM_EACH)
        each_taken(oracle);
    else if (call->ticket.producer != 0)
        ticket_check(oracle);
}
