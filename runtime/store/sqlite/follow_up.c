#include "store/sqlite/follow_up.h"

#include <stdlib.h>
#include <string.h>

#include "store/sqlite/error.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/transaction.h"
#include "store/sqlite/verbs.h"
#include "base/error.h"

/* Of a step, in order: those that are to come in. */
struct follow_ups {
    const struct culex_follow_up **of;
    size_t count;
    const char *queue;             /* whose turn it is */
    struct culex_sqlite_aim *aims; /* one for the step, one for each queue */
    size_t aim_count;
};

bool culex__sqlite_has_follow_ups(const struct culex_step *step)
{
    for (size_t i = 0; i < step->ack_count; i++) {
        if (step->acks[i].follow_up_count > 0)
            return true;
    }
    return false;
}

static size_t count_all(const struct culex_step *step)
{
    size_t count = 0;
    for (size_t i = 0; i < step->ack_count; i++)
        count += step->acks[i].follow_up_count;
    return count;
}

static void choose(struct follow_ups *all, const struct culex_step *step,
                   const struct culex_step_reply *reply)
{
    for (size_t i = 0; i < step->ack_count; i++) {
        const struct culex_ack *ack = &step->acks[i];
        for (size_t at = 0; at < ack->follow_up_count && reply->acks[i] == CULEX_ANSWER_OK; at++)
            all->of[all->count++] = &ack->follow_ups[at];
    }
}

/* Whether one before it goes to the same queue. */
static bool is_known(const struct follow_ups *all, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (strcmp(all->of[i]->queue, all->of[at]->queue) == 0)
            return true;
    }
    return false;
}

/* All that go to this queue. */
static culex_status queue_bring(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                void *request, culex_error *error)
{
    const struct follow_ups *all = request;
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < all->count && status == CULEX_OK; i++) {
        if (strcmp(all->of[i]->queue, all->queue) == 0)
            status = culex__sqlite_enqueue_unbounded(store, queue, &all->of[i]->run, error);
    }
    return status;
}

static culex_status bring(struct culex_sqlite *store, struct follow_ups *all, const char *own,
                          struct culex_step_reply *reply, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < all->count && status == CULEX_OK; i++) {
        if (is_known(all, i))
            continue;
        all->queue = all->of[i]->queue;
        status = culex__sqlite_verb_part(store, all->queue, CULEX__SQLITE_ABSENT_MADE, queue_bring,
                                         all, &all->aims[all->aim_count++], error);
        reply->is_empty = reply->is_empty && strcmp(all->queue, own) != 0;
    }
    if (status != CULEX_OK && all->queue != NULL)
        culex__error_context(error, "a follow-up in queue %s", all->queue);
    return status;
}

static culex_status within(struct culex_sqlite *store, struct follow_ups *all,
                           const struct culex_step *step, culex_sqlite_verb_fn verb, void *request,
                           struct culex_step_reply *reply, const bool *is_repeat,
                           culex_error *error)
{
    culex_status status = culex__sqlite_begin(store, error);
    if (status != CULEX_OK)
        return status;
    status = culex__sqlite_verb_part(store, step->queue, CULEX__SQLITE_ABSENT_EMPTY, verb, request,
                                     &all->aims[all->aim_count++], error);
    if (status == CULEX_OK && !*is_repeat) {
        choose(all, step, reply);
        status = bring(store, all, step->queue, reply, error);
    }
    status = culex__sqlite_end_transaction(store, status, error);
    for (size_t i = 0; i < all->aim_count && status == CULEX_OK; i++)
        culex__sqlite_wake_send_later(store, &all->aims[i]);
    return status;
}

culex_status culex__sqlite_follow_ups_write(struct culex_sqlite *store,
                                            const struct culex_step *step,
                                            culex_sqlite_verb_fn verb, void *request,
                                            struct culex_step_reply *reply, const bool *is_repeat,
                                            culex_error *error)
{
    size_t count = count_all(step);
    struct follow_ups all = {.of = calloc(count, sizeof(void *)),
                             .aims = calloc(count + 1, sizeof *all.aims)};
    culex_status status =
        all.of != NULL && all.aims != NULL ? CULEX_OK : culex__sqlite_no_memory(error);
    if (status == CULEX_OK)
        status = within(store, &all, step, verb, request, reply, is_repeat, error);
    free(all.aims);
    free(all.of);
    return status;
}
