#include "store/sqlite/follow_up.h"

#include <stdlib.h>
#include <string.h>

#include "store/sqlite/error.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/transaction.h"
#include "store/sqlite/verbs.h"
#include "base/error.h"

enum { RETRY_MS = 10000 }; /* of a run whose follow-ups were refused */

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
        reply->has_brought = true;
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
    culex__sqlite_wake_tell(store, status == CULEX_OK);
    return status;
}

culex_status culex__sqlite_follow_ups_write(struct culex_sqlite *store,
                                            const struct culex_step *step,
                                            culex_sqlite_verb_fn verb, void *request,
                                            struct culex_step_reply *reply, const bool *is_repeat,
                                            const char **ret_refused, culex_error *error)
{
    size_t room = count_all(step) + 1;
    struct follow_ups all = {.of = calloc(room, sizeof(void *)),
                             .aims = calloc(room, sizeof *all.aims)};
    if (all.of == NULL || all.aims == NULL) {
        free(all.aims);
        free(all.of);
        *ret_refused = NULL;
        return culex__sqlite_no_memory(error);
    }
    culex_status status = within(store, &all, step, verb, request, reply, is_repeat, error);
    *ret_refused = status != CULEX_OK ? all.queue : NULL;
    free(all.aims);
    free(all.of);
    return status;
}

bool culex__sqlite_refusal_lasts(culex_status status)
{
    switch (status) {
    case CULEX_EBUSY:
    case CULEX_ECONNECT:
    case CULEX_EUNKNOWN:
    case CULEX_EFULL:
    case CULEX_ENOMEM:
    case CULEX_EMOVED:
        return false;
    default:
        return true;
    }
}

static bool goes_to(const struct culex_ack *ack, const char *queue)
{
    for (size_t i = 0; i < ack->follow_up_count; i++) {
        if (strcmp(ack->follow_ups[i].queue, queue) == 0)
            return true;
    }
    return false;
}

void culex__sqlite_follow_ups_refuse(const struct culex_step *step, const char *queue,
                                     const char *text, struct culex_ack *ret_acks)
{
    for (size_t i = 0; i < step->ack_count; i++) {
        ret_acks[i] = step->acks[i];
        if (!goes_to(&ret_acks[i], queue))
            continue;
        ret_acks[i].event = CULEX_EVENT_FAIL;
        ret_acks[i].delay_ms = RETRY_MS;
        ret_acks[i].text = text;
        ret_acks[i].follow_ups = NULL;
        ret_acks[i].follow_up_count = 0;
    }
}
