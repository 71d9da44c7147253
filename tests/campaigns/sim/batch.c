/* sim/batch.c - batches: their members, whether they were closed, and which callbacks came in.
 *
 * What the store was told and has answered counts, not what a producer heard of it. The book is
 * marked and rolled back with the store. */
#include <stdlib.h>
#include <string.h>

#include "books.h"

/* Above all numbers of follow-ups. */
#define NUMBER_FIRST INT64_C(2000000000000)

enum { MEMBERS_MAX = 64, KINDS = CULEX_BATCH_ON_DEATH + 1 };

struct member {
    culex_uuid id;
    char end; /* D X C; 0: live */
};

/* What the store knows of it. */
struct state {
    bool is_open, is_closed;
    bool may_be_expired; /* it was not closed in time, or maybe just not */
    struct member members[MEMBERS_MAX];
    size_t count;
    int64_t given[KINDS]; /* the number of each callback; 0: none */
    unsigned came;        /* a bit for each kind */
};

struct batch {
    culex_uuid id;
    int64_t until_ms;
    struct state now, marked;
};

int64_t sim_batch_number(struct sim_oracle *oracle)
{
    return NUMBER_FIRST + oracle->callback_count++;
}

bool sim_batch_is_callback(const char *payload)
{
    return sim_number_last(payload, strlen(payload)) >= NUMBER_FIRST;
}

static struct batch *batch_find(const struct sim_oracle *oracle, culex_uuid id)
{
    for (size_t i = oracle->batch_count; i-- > 0;) {
        if (memcmp(&oracle->batches[i].id, &id, sizeof id) == 0)
            return &oracle->batches[i];
    }
    return NULL;
}

static struct batch *batch_get(struct sim_oracle *oracle, culex_uuid id)
{
    struct batch *batch = batch_find(oracle, id);
    if (batch != NULL)
        return batch;
    oracle->batches = realloc(oracle->batches, (oracle->batch_count + 1) * sizeof *oracle->batches);
    if (oracle->batches == NULL)
        abort();
    batch = &oracle->batches[oracle->batch_count++];
    *batch = (struct batch){.id = id};
    return batch;
}

/* --- what is told -------------------------------------------------------------------------- */

static bool has_ended(const struct state *state)
{
    bool has = state->is_closed;
    for (size_t i = 0; i < state->count; i++)
        has = has && state->members[i].end != '\0';
    return has;
}

static size_t ends_count(const struct state *state, char end)
{
    size_t count = 0;
    for (size_t i = 0; i < state->count; i++)
        count += state->members[i].end == end;
    return count;
}

/* A bit for each kind that has to be told, now or soon. */
static unsigned due_kinds(const struct state *state)
{
    bool is_success = has_ended(state) && ends_count(state, 'D') == state->count;
    return (has_ended(state) ? 1U << CULEX_BATCH_ON_COMPLETE : 0) |
           (is_success && !state->may_be_expired ? 1U << CULEX_BATCH_ON_SUCCESS : 0) |
           (ends_count(state, 'X') > 0 ? 1U << CULEX_BATCH_ON_DEATH : 0);
}

/* And those that may be. */
static bool may_be_told(const struct state *state, int kind)
{
    bool is_doubtful =
        state->may_be_expired && has_ended(state) && ends_count(state, 'D') == state->count;
    return (due_kinds(state) & 1U << kind) != 0 || (kind == CULEX_BATCH_ON_SUCCESS && is_doubtful);
}

static unsigned given_kinds(const struct state *state)
{
    unsigned kinds = 0;
    for (int kind = 0; kind < KINDS; kind++)
        kinds |= state->given[kind] != 0 ? 1U << kind : 0;
    return kinds;
}

/* Nobody has closed it, and its time is over: the store does, when a worker comes by. */
static void expiry_look(const struct sim_oracle *oracle, struct batch *batch)
{
    if (!batch->now.is_open || batch->now.is_closed || oracle->clock_max_ms < batch->until_ms)
        return;
    batch->now.may_be_expired = true;
}

/* --- orders -------------------------------------------------------------------------------- */

static void opened(struct sim_oracle *oracle)
{
    const struct sim_call *call = &oracle->call;
    struct batch *batch = batch_get(oracle, call->batch);
    if (batch->now.is_open)
        SOMETIMES(BATCH_OPENED_AGAIN);
    else
        batch->until_ms = call->now_ms + call->open_ms;
    batch->now.is_open = true;
}

static void given(struct sim_oracle *oracle, struct batch *batch)
{
    const struct sim_call *call = &oracle->call;
    int64_t *number = &batch->now.given[call->batch_kind];
    bool is_other = *number != 0 && *number != call->batch_number;
    if (is_other != (call->batch_answer == '!'))
        sim_violation(oracle, NULL, "a callback of a batch is answered %c", call->batch_answer);
    if (*number == call->batch_number)
        SOMETIMES(BATCH_CALLBACK_GIVEN_AGAIN);
    if (*number == 0 && may_be_told(&batch->now, call->batch_kind))
        SOMETIMES(BATCH_CALLBACK_GIVEN_LATE);
    if (*number == 0)
        *number = call->batch_number;
}

static void closed(const struct sim_oracle *oracle, struct batch *batch)
{
    expiry_look(oracle, batch);
    batch->now.is_closed = true;
    if (has_ended(&batch->now))
        SOMETIMES(BATCH_CLOSED_BEHIND_ITS_MEMBERS);
}

void sim_batch_ordered(struct sim_oracle *oracle)
{
    const struct sim_call *call = &oracle->call;
    struct batch *batch = batch_find(oracle, call->batch);
    if (call->batch_act == 'o' && call->batch_answer == 'O')
        opened(oracle);
    if (call->batch_act == 'o')
        return;
    bool is_there = batch != NULL && batch->now.is_open;
    if (is_there != (call->batch_answer != '-'))
        sim_violation(oracle, NULL, "an order for a batch is answered %c", call->batch_answer);
    if (is_there && call->batch_act == 'c')
        given(oracle, batch);
    if (is_there && call->batch_act == 'x')
        closed(oracle, batch);
}

/* --- members ------------------------------------------------------------------------------- */

void sim_batch_joined(struct sim_oracle *oracle, culex_uuid id)
{
    struct batch *batch = batch_find(oracle, oracle->call.batch);
    if (batch == NULL || !batch->now.is_open)
        sim_violation(oracle, &id, "a run comes into a batch that is not there");
    if (has_ended(&batch->now))
        sim_violation(oracle, &id, "a run comes into a batch that has ended");
    if (batch->now.is_closed)
        SOMETIMES(BATCH_GROWS_AFTER_ITS_CLOSE);
    if (batch->now.count == MEMBERS_MAX)
        abort();
    batch->now.members[batch->now.count++] = (struct member){.id = id};
}

void sim_batch_enqueued(struct sim_oracle *oracle)
{
    const struct sim_call *call = &oracle->call;
    const struct batch *batch = batch_find(oracle, call->batch);
    bool is_there = batch != NULL && batch->now.is_open;
    if (call->batch_answer == '-' && is_there)
        sim_violation(oracle, NULL, "a batch that is there takes no members");
    if (call->batch_answer == '.' &&
        !(is_there && (has_ended(&batch->now) || oracle->clock_max_ms >= batch->until_ms)))
        sim_violation(oracle, NULL, "a batch that has not ended takes no members");
    if (call->batch_answer == '.')
        SOMETIMES(BATCH_HAS_ENDED);
}

static struct member *member_find(struct sim_oracle *oracle, culex_uuid id)
{
    for (size_t i = oracle->batch_count; i-- > 0;) {
        struct state *state = &oracle->batches[i].now;
        for (size_t k = 0; k < state->count; k++) {
            if (memcmp(&state->members[k].id, &id, sizeof id) == 0)
                return &state->members[k];
        }
    }
    return NULL;
}

void sim_batch_member_ended(struct sim_oracle *oracle, const struct run *run, char end)
{
    struct member *member = member_find(oracle, run->id);
    if (member == NULL || member->end != '\0')
        return;
    member->end = end;
    if (oracle->call.verb == SIM_PURGE)
        SOMETIMES(BATCH_MEMBER_PURGED);
}

/* --- callbacks ----------------------------------------------------------------------------- */

static struct batch *batch_of(const struct sim_oracle *oracle, int64_t number, int *ret_kind)
{
    for (size_t i = oracle->batch_count; i-- > 0;) {
        for (int kind = 0; kind < KINDS; kind++) {
            *ret_kind = kind;
            if (oracle->batches[i].now.given[kind] == number)
                return &oracle->batches[i];
        }
    }
    return NULL;
}

void sim_batch_came(struct sim_oracle *oracle, const struct run *run)
{
    int kind;
    struct batch *batch =
        batch_of(oracle, sim_number_last(run->payload, strlen(run->payload)), &kind);
    if (batch == NULL)
        sim_violation(oracle, &run->id, "a callback comes in that no batch was given: %s",
                      run->payload);
    if ((batch->now.came & 1U << kind) != 0)
        sim_violation(oracle, &run->id, "a callback of a batch comes in twice, of kind %d", kind);
    batch->now.came |= 1U << kind;
    if (kind == CULEX_BATCH_ON_COMPLETE)
        SOMETIMES(BATCH_COMPLETE);
    if (kind == CULEX_BATCH_ON_SUCCESS)
        SOMETIMES(BATCH_SUCCESS);
    if (kind == CULEX_BATCH_ON_DEATH)
        SOMETIMES(BATCH_DEATH);
    if (run->queue[0] == 'b')
        SOMETIMES(BATCH_CALLBACK_IN_ANOTHER_QUEUE);
}

/* One that nobody has closed is closed by the first sign of it. */
static void expired_look(const struct sim_oracle *oracle, struct batch *batch)
{
    expiry_look(oracle, batch);
    if (batch->now.is_closed || !batch->now.may_be_expired ||
        (batch->now.came & 1U << CULEX_BATCH_ON_COMPLETE) == 0)
        return;
    batch->now.is_closed = true;
    SOMETIMES(BATCH_EXPIRED);
}

void sim_batch_call_check(struct sim_oracle *oracle)
{
    for (size_t i = 0; i < oracle->batch_count; i++) {
        struct batch *batch = &oracle->batches[i];
        expired_look(oracle, batch);
        for (int kind = 0; kind < KINDS; kind++) {
            if ((batch->now.came & 1U << kind) != 0 && !may_be_told(&batch->now, kind))
                sim_violation(oracle, batch->now.count > 0 ? &batch->now.members[0].id : NULL,
                              "a callback of kind %d tells of a batch what is not so: %s, %zu "
                              "members, %zu done, %zu dead, %zu cancelled",
                              kind, batch->now.is_closed ? "closed" : "open", batch->now.count,
                              ends_count(&batch->now, 'D'), ends_count(&batch->now, 'X'),
                              ends_count(&batch->now, 'C'));
        }
    }
}

/* --- the store's past ---------------------------------------------------------------------- */

void sim_batch_mark(struct sim_oracle *oracle)
{
    for (size_t i = 0; i < oracle->batch_count; i++)
        oracle->batches[i].marked = oracle->batches[i].now;
}

void sim_batch_roll_back(struct sim_oracle *oracle)
{
    for (size_t i = 0; i < oracle->batch_count; i++)
        oracle->batches[i].now = oracle->batches[i].marked;
}

/* --- the end ------------------------------------------------------------------------------- */

/* Open ones are closed when their time is over, and tell that they are complete. */
static unsigned missing_kinds(const struct state *state)
{
    unsigned due = due_kinds(state) | (state->is_open ? 1U << CULEX_BATCH_ON_COMPLETE : 0);
    return due & given_kinds(state) & ~state->came;
}

static const struct batch *batch_due(const struct sim_oracle *oracle)
{
    for (size_t i = 0; i < oracle->batch_count; i++) {
        if (missing_kinds(&oracle->batches[i].now) != 0)
            return &oracle->batches[i];
    }
    return NULL;
}

bool sim_oracle_has_callbacks(const struct sim_oracle *oracle)
{
    return batch_due(oracle) != NULL;
}

void sim_oracle_check_callbacks(struct sim_oracle *oracle)
{
    const struct batch *due = batch_due(oracle);
    if (due != NULL)
        sim_violation(oracle, due->now.count > 0 ? &due->now.members[0].id : NULL,
                      "a batch, %s, %zu members, lacks callbacks after healing: %x",
                      due->now.is_closed ? "closed" : "open", due->now.count,
                      missing_kinds(&due->now));
}
