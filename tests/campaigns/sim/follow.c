/* sim/follow.c - follow-ups: which execution asked for each, whether its end was accepted as done,
 * and which of them came in.
 *
 * Each has a number of its own as its params, which leads to the execution that asked for it. The
 * book is marked and rolled back with the store, so it holds across that, too. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "books.h"

/* Above all numbers of producers. */
#define NUMBER_FIRST INT64_C(1000000000000)
#define NUMBER_END   (2 * NUMBER_FIRST)

/* What the store knows of them. */
struct stand {
    bool is_accepted;
    unsigned came; /* a bit for each */
};

/* What one execution asked for. */
struct asking {
    culex_uuid id;
    uint32_t attempt;
    char session[SIM_SESSION_SIZE];
    size_t count;
    char queues[SIM_FOLLOW_UPS_MAX][8];
    int64_t delays_ms[SIM_FOLLOW_UPS_MAX];
    struct stand now, marked;
    int64_t accepted_ns;
};

static struct asking *asking_find(const struct sim_oracle *oracle, int64_t number)
{
    return number < 1 || number > (int64_t)oracle->asking_count ? NULL
                                                                : &oracle->askings[number - 1];
}

int64_t sim_follow_ask(struct sim_oracle *oracle, culex_uuid id, uint32_t attempt,
                       const char *session)
{
    oracle->askings =
        realloc(oracle->askings, (oracle->asking_count + 1) * sizeof *oracle->askings);
    if (oracle->askings == NULL)
        abort();
    struct asking *made = &oracle->askings[oracle->asking_count++];
    *made = (struct asking){.id = id, .attempt = attempt};
    snprintf(made->session, sizeof made->session, "%s", session);
    return (int64_t)oracle->asking_count;
}

int64_t sim_follow_add(struct sim_oracle *oracle, int64_t number, const char *queue,
                       int64_t delay_ms)
{
    struct asking *asking = asking_find(oracle, number);
    asking->delays_ms[asking->count] = delay_ms;
    snprintf(asking->queues[asking->count], sizeof asking->queues[0], "%s", queue);
    return NUMBER_FIRST + number * SIM_FOLLOW_UPS_MAX + (int64_t)asking->count++;
}

/* --- payloads ------------------------------------------------------------------------------ */

int64_t sim_number_last(const char *text, size_t len)
{
    static const char name[] = "{\"n\":";
    for (size_t at = len; at-- > 0;) {
        if (len - at > sizeof name && memcmp(text + at, name, sizeof name - 1) == 0)
            return strtoll(text + at + sizeof name - 1, NULL, 10);
    }
    return -1;
}

int64_t sim_follow_asking(const char *text, size_t len)
{
    int64_t number = sim_number_last(text, len);
    return number < NUMBER_FIRST || number >= NUMBER_END
               ? 0
               : (number - NUMBER_FIRST) / SIM_FOLLOW_UPS_MAX;
}

/* --- what comes in ------------------------------------------------------------------------- */

static unsigned all_of(const struct asking *asking)
{
    return (1U << asking->count) - 1;
}

static void situations_count(const struct sim_oracle *oracle, const struct asking *asking,
                             const struct run *run)
{
    const struct run *asker = sim_run_find(oracle, asking->id);
    SOMETIMES(FOLLOW_UP_BROUGHT);
    if (asker != NULL && strcmp(asker->queue, run->queue) != 0)
        SOMETIMES(FOLLOW_UP_TO_ANOTHER_QUEUE);
    if (asker != NULL && sim_follow_asking(asker->payload, strlen(asker->payload)) > 0)
        SOMETIMES(FOLLOW_UP_OF_A_FOLLOW_UP);
    if (oracle->call.verb == SIM_FOLLOW && oracle->world->now_ns > asking->accepted_ns + SIM_SECOND)
        SOMETIMES(FOLLOW_UP_BROUGHT_LATER);
}

/* It may begin so long after it has come in. */
static bool has_delay(const struct sim_oracle *oracle, const struct sim_record *record,
                      int64_t delay_ms)
{
    return delay_ms == 0 ? record->state == 'W'
                         : record->state == 'S' && record->at_ms == oracle->call.now_ms + delay_ms;
}

void sim_follow_came(struct sim_oracle *oracle, const struct run *run,
                     const struct sim_record *record)
{
    int64_t number = sim_number_last(run->payload, strlen(run->payload));
    struct asking *asking =
        asking_find(oracle, sim_follow_asking(run->payload, strlen(run->payload)));
    size_t place = (size_t)(number - NUMBER_FIRST) % SIM_FOLLOW_UPS_MAX;
    if (asking == NULL || place >= asking->count)
        sim_violation(oracle, &run->id, "a run follows that nobody asked for: %s", run->payload);
    if (strcmp(asking->queues[place], run->queue) != 0)
        sim_violation(oracle, &run->id, "a follow-up comes into another queue than it should");
    if (!has_delay(oracle, record, asking->delays_ms[place]))
        sim_violation(oracle, &run->id, "a follow-up comes in without its delay of %" PRId64 " ms",
                      asking->delays_ms[place]);
    if ((asking->now.came & 1U << place) != 0)
        sim_violation(oracle, &asking->id, "a follow-up of it comes in twice");
    if (oracle->call.verb == SIM_FOLLOW && !asking->now.is_accepted)
        sim_violation(oracle, &asking->id,
                      "a follow-up of attempt %u comes in, whose end was not accepted as done",
                      asking->attempt);
    asking->now.came |= 1U << place;
    situations_count(oracle, asking, run);
}

/* The number of what the execution asked for; 0 for nothing. */
static int64_t asking_of(const struct sim_oracle *oracle, culex_uuid id, uint32_t attempt,
                         const char *session)
{
    for (size_t i = oracle->asking_count; i-- > 0;) {
        const struct asking *asking = &oracle->askings[i];
        if (asking->attempt == attempt && memcmp(&asking->id, &id, sizeof id) == 0 &&
            strcmp(asking->session, session) == 0)
            return (int64_t)i + 1;
    }
    return 0;
}

/* A store that is rolled back may have one attempt executed twice, by one session. */
void sim_follow_accepted(struct sim_oracle *oracle, size_t at)
{
    const struct sim_call *call = &oracle->call;
    culex_uuid id = call->acks[at].id;
    int64_t asked = asking_of(oracle, id, call->acks[at].attempt, call->session);
    int64_t told = call->acks[at].asking;
    if (call->acks[at].event != CULEX_EVENT_DONE) {
        if (asked > 0)
            SOMETIMES(FOLLOW_UP_OF_AN_END_THAT_IS_NOT_DONE);
        return;
    }
    if (oracle->epoch == 0 && told != asked)
        sim_violation(oracle, &id,
                      "an end is told without its follow-ups, or with those of others");
    struct asking *asking = asking_find(oracle, told);
    if (asking == NULL)
        return;
    if (asking->attempt != call->acks[at].attempt || memcmp(&asking->id, &id, sizeof id) != 0)
        sim_violation(oracle, &id, "an end is told with the follow-ups of another one");
    asking->now.is_accepted = true;
    asking->accepted_ns = oracle->world->now_ns;
}

void sim_follow_repeated(const struct sim_oracle *oracle, size_t at)
{
    const struct asking *asking = asking_find(oracle, oracle->call.acks[at].asking);
    if (asking != NULL && asking->now.is_accepted)
        SOMETIMES(FOLLOW_UP_AFTER_A_LOST_REPLY);
}

void sim_follow_step_check(struct sim_oracle *oracle)
{
    for (size_t i = 0; i < oracle->asking_count; i++) {
        const struct asking *asking = &oracle->askings[i];
        if (asking->now.came != 0 && !asking->now.is_accepted)
            sim_violation(oracle, &asking->id,
                          "follow-ups of attempt %u are in, whose end was not accepted as done",
                          asking->attempt);
        if (oracle->world->options.is_sqlite && asking->now.is_accepted &&
            asking->now.came != all_of(asking))
            sim_violation(oracle, &asking->id, "its end is accepted without its follow-ups");
    }
}

/* --- the store's past ---------------------------------------------------------------------- */

void sim_follow_mark(struct sim_oracle *oracle)
{
    for (size_t i = 0; i < oracle->asking_count; i++)
        oracle->askings[i].marked = oracle->askings[i].now;
}

void sim_follow_roll_back(struct sim_oracle *oracle)
{
    for (size_t i = 0; i < oracle->asking_count; i++) {
        struct asking *asking = &oracle->askings[i];
        if (asking->now.came != asking->marked.came)
            SOMETIMES(FOLLOW_UP_LOST_BY_ROLLING_BACK);
        asking->now = asking->marked;
    }
}

/* --- the end ------------------------------------------------------------------------------- */

static const struct asking *asking_due(const struct sim_oracle *oracle)
{
    for (size_t i = 0; i < oracle->asking_count; i++) {
        const struct asking *asking = &oracle->askings[i];
        if (asking->now.is_accepted && asking->now.came != all_of(asking))
            return asking;
    }
    return NULL;
}

bool sim_oracle_has_follow_ups(const struct sim_oracle *oracle)
{
    return asking_due(oracle) != NULL;
}

void sim_oracle_check_follow_ups(struct sim_oracle *oracle, const char *when)
{
    const struct asking *due = asking_due(oracle);
    if (due != NULL)
        sim_violation(oracle, &due->id, "a follow-up of attempt %u does not come in %s",
                      due->attempt, when);
}
