/* store/sqlite/manage.c - the operator's verbs, and HELLO. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/sqlite/error.h"
#include "store/sqlite/memo.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/run.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/transaction.h"
#include "store/sqlite/verbs.h"
#include "base/error.h"

/* --- HELLO ----------------------------------------------------------------------------- */

static culex_status previous_session(struct culex_sqlite *store,
                                     const struct culex_sqlite_queue *queue, const char *worker,
                                     char ret_session[CULEX__SQLITE_SESSION_SIZE],
                                     culex_error *error)
{
    sqlite3_stmt *statement =
        culex__sqlite_bind(store, CULEX__SQLITE_WORKER_GET, "it", queue->key, worker);
    int has = culex__sqlite_next(store, statement, error);
    const char *session = has > 0 ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    snprintf(ret_session, CULEX__SQLITE_SESSION_SIZE, "%s", session != NULL ? session : "");
    culex__sqlite_end(statement);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

static culex_status held_take_back(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                   int64_t seq, const char *worker, culex_error *error)
{
    struct culex_sqlite_run run;
    char how[160];
    culex_status status = culex__sqlite_run_one(
        store, culex__sqlite_bind(store, CULEX__SQLITE_RUN_BY_SEQ, "i", seq), &run, error);
    if (status == CULEX_ECORRUPT)
        return culex__sqlite_run_aside(store, queue, CULEX_RUN_ACTIVE, seq, error);
    if (status != CULEX_OK)
        return status;
    snprintf(how, sizeof how, "the process of worker %s was replaced", worker);
    return culex__sqlite_run_vanish(store, queue, &run, how, error);
}

/* In rounds, to bound the memory; what a session holds is bounded by its own claims. */
static culex_status take_back_all(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                  const char *session, const char *worker, size_t *ret_released,
                                  culex_error *error)
{
    enum { ROUND = 64 };
    int64_t seqs[ROUND];
    size_t count = ROUND;
    culex_status status = CULEX_OK;
    while (status == CULEX_OK && count == ROUND) {
        status = culex__sqlite_collect(
            store, culex__sqlite_bind(store, CULEX__SQLITE_HELD_BY, "it", queue->key, session),
            ROUND, seqs, &count, error);
        for (size_t i = 0; i < count && status == CULEX_OK; i++) {
            status = held_take_back(store, queue, seqs[i], worker, error);
            *ret_released += status == CULEX_OK;
        }
    }
    return status;
}

static culex_status forget_old(struct culex_sqlite *store, culex_error *error)
{
    int64_t before = store->now_ms - CULEX_SESSION_TTL_MS, most = CULEX_PURGE_MAX;
    culex_status status = culex__sqlite_finish(
        store, culex__sqlite_bind(store, CULEX__SQLITE_MEMO_PURGE, "ii", before, most), error);
    if (status == CULEX_OK)
        status = culex__sqlite_finish(
            store, culex__sqlite_bind(store, CULEX__SQLITE_WORKER_PURGE, "ii", before, most),
            error);
    return status;
}

static culex_status hello_all(struct culex_sqlite *store, const char *name, const char *worker,
                              const char *session, size_t *ret_released, culex_error *error)
{
    struct culex_sqlite_queue queue;
    char previous[CULEX__SQLITE_SESSION_SIZE];
    culex_status status = culex__sqlite_queue_load(store, name, true, &queue, error);
    if (status == CULEX_OK)
        status = previous_session(store, &queue, worker, previous, error);
    if (status == CULEX_OK && previous[0] != '\0' && strcmp(previous, session) != 0) {
        status = take_back_all(store, &queue, previous, worker, ret_released, error);
        if (status == CULEX_OK)
            status = culex__sqlite_memo_replace(store, &queue, previous, error);
    }
    if (status == CULEX_OK)
        status = culex__sqlite_finish(store,
                                      culex__sqlite_bind(store, CULEX__SQLITE_WORKER_SET, "itti",
                                                         queue.key, worker, session, store->now_ms),
                                      error);
    if (status == CULEX_OK)
        status = forget_old(store, error);
    if (status == CULEX_OK)
        status = culex__sqlite_queue_save(store, &queue, error);
    return status;
}

culex_status culex__sqlite_hello(struct culex_store *base, const char *queue, const char *worker,
                                 const char *session, size_t *ret_released, int64_t *ret_now_ms,
                                 culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    size_t released = 0;
    if (strlen(session) >= CULEX__SQLITE_SESSION_SIZE)
        return culex__fail(error, CULEX_EINVAL, "the session is too long");
    culex_status status = culex__sqlite_begin(store, error);
    if (status != CULEX_OK)
        return status;
    status = hello_all(store, queue, worker, session, &released, error);
    status = culex__sqlite_end_transaction(store, status, error);
    if (status == CULEX_OK) {
        *ret_released = released;
        *ret_now_ms = store->now_ms;
    }
    return status;
}

/* --- verbs on one run ------------------------------------------------------------------ */

/* What a verb does with the run it names. */
typedef culex_status (*run_action)(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                   struct culex_sqlite_run *run, culex_error *error);

static culex_status act(struct culex_sqlite *store, const char *name, culex_uuid id,
                        run_action action, struct culex_sqlite_run *ret_run, culex_error *error)
{
    struct culex_sqlite_queue queue;
    culex_status status = culex__sqlite_queue_load(store, name, false, &queue, error);
    if (status == CULEX_OK)
        status = culex__sqlite_run_one(
            store, culex__sqlite_bind(store, CULEX__SQLITE_RUN_FIND, "iu", queue.key, &id), ret_run,
            error);
    if (status == CULEX_ENOTFOUND)
        return culex__fail(error, CULEX_ENOTFOUND, "no such run in queue %s", name);
    if (status == CULEX_OK)
        status = action(store, &queue, ret_run, error);
    if (status == CULEX_OK)
        status = culex__sqlite_queue_save(store, &queue, error);
    return status;
}

static culex_status act_on_run(struct culex_store *base, const char *queue, culex_uuid id,
                               run_action action, struct culex_sqlite_run *ret_run,
                               culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    culex_status status = culex__sqlite_begin(store, error);
    if (status != CULEX_OK)
        return status;
    status = act(store, queue, id, action, ret_run, error);
    return culex__sqlite_end_transaction(store, status, error);
}

static culex_status wrong_state(const struct culex_sqlite_run *run, culex_error *error)
{
    return culex__fail(error, CULEX_ESTATE, "the run is %s", culex_run_state_name(run->state));
}

static culex_status cancel_run(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               struct culex_sqlite_run *run, culex_error *error)
{
    static const struct culex_sqlite_move cancel = {.event = CULEX_EVENT_CANCEL};
    if (run->state == CULEX_RUN_ACTIVE) {
        run->is_cancel_requested = true;
        return culex__sqlite_run_save(store, run, NULL, error);
    }
    culex_status status = culex__sqlite_run_move(store, queue, run, &cancel, error);
    return status == CULEX_ESTATE ? wrong_state(run, error) : status;
}

culex_status culex__sqlite_cancel(struct culex_store *base, const char *queue, culex_uuid id,
                                  culex_run_state *ret_state, culex_error *error)
{
    struct culex_sqlite_run run = {.state = CULEX_RUN_CANCELLED};
    culex_status status = act_on_run(base, queue, id, cancel_run, &run, error);
    if (status == CULEX_OK)
        *ret_state = run.state;
    return status;
}

static culex_status retry_run(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              struct culex_sqlite_run *run, culex_error *error)
{
    static const struct culex_sqlite_move retry = {.event = CULEX_EVENT_RETRY};
    int64_t has_rival;
    if (run->state != CULEX_RUN_DEAD)
        return wrong_state(run, error);
    culex_status status = culex__sqlite_first_int(
        store, culex__sqlite_bind(store, CULEX__SQLITE_RUN_RIVAL, "i", run->seq), 0, &has_rival,
        error);
    if (status != CULEX_OK)
        return status;
    if (has_rival)
        return culex__fail(error, CULEX_EUNIQUE, "another run holds its unique key by now");
    run->is_cancel_requested = false;
    /* Its old date would kill it at once; somebody wants it to run now. */
    status = culex__sqlite_finish(
        store, culex__sqlite_bind(store, CULEX__SQLITE_RUN_UNDATE, "i", run->seq), error);
    if (status != CULEX_OK)
        return status;
    return culex__sqlite_run_move(store, queue, run, &retry, error);
}

culex_status culex__sqlite_retry(struct culex_store *base, const char *queue, culex_uuid id,
                                 culex_error *error)
{
    struct culex_sqlite_run run;
    return act_on_run(base, queue, id, retry_run, &run, error);
}

static culex_status forget_run(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               struct culex_sqlite_run *run, culex_error *error)
{
    if (!culex__run_state_is_final(run->state))
        return culex__fail(error, CULEX_ESTATE, "the run is %s",
                           culex_run_state_name(culex__sqlite_run_state(store, run)));
    return culex__sqlite_run_forget(store, queue, run, error);
}

culex_status culex__sqlite_forget(struct culex_store *base, const char *queue, culex_uuid id,
                                  culex_error *error)
{
    struct culex_sqlite_run run;
    return act_on_run(base, queue, id, forget_run, &run, error);
}

/* --- verbs on a queue ------------------------------------------------------------------ */

culex_status culex__sqlite_pause_queue(struct culex_store *base, const char *queue, bool is_paused,
                                       culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    struct culex_sqlite_queue row;
    culex_status status = culex__sqlite_begin(store, error);
    if (status != CULEX_OK)
        return status;
    status = culex__sqlite_queue_need(store, queue, &row, error);
    if (status == CULEX_OK && (row.is_paused != 0) != is_paused) {
        row.is_paused = is_paused;
        row.is_changed = true;
        row.has_new_work = !is_paused;
    }
    if (status == CULEX_OK)
        status = culex__sqlite_queue_save(store, &row, error);
    return culex__sqlite_end_transaction(store, status, error);
}

culex_status culex__sqlite_limit_queue(struct culex_store *base, const char *queue, uint64_t most,
                                       culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    struct culex_sqlite_queue row;
    culex_status status = culex__sqlite_begin(store, error);
    if (status != CULEX_OK)
        return status;
    status = culex__sqlite_queue_need(store, queue, &row, error);
    if (status == CULEX_OK)
        status = culex__sqlite_finish(
            store,
            culex__sqlite_bind(store, CULEX__SQLITE_QUEUE_LIMIT, "ii", row.key, (int64_t)most),
            error);
    return culex__sqlite_end_transaction(store, status, error);
}

static sqlite3_stmt *bind_purge(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                culex_run_state state, const char *letter, int64_t limit)
{
    if (state == CULEX_RUN_WAITING || state == CULEX_RUN_SCHEDULED)
        return culex__sqlite_bind(store,
                                  state == CULEX_RUN_WAITING ? CULEX__SQLITE_IN_WAITING
                                                             : CULEX__SQLITE_IN_SCHEDULED,
                                  "iii", queue->key, store->now_ms, limit);
    return culex__sqlite_bind(store, CULEX__SQLITE_IN_STATE, "iti", queue->key, letter, limit);
}

static culex_status purge_all(struct culex_sqlite *store, const char *name, culex_run_state state,
                              int64_t *seqs, size_t limit, size_t *ret_count, culex_error *error)
{
    struct culex_sqlite_queue queue;
    struct culex_sqlite_run run;
    size_t count = 0;
    const char letter[2] = {culex__run_state_letter(state), '\0'};
    culex_status status = culex__sqlite_queue_need(store, name, &queue, error);
    if (status == CULEX_OK)
        status =
            culex__sqlite_collect(store, bind_purge(store, &queue, state, letter, (int64_t)limit),
                                  limit, seqs, &count, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++) {
        status = culex__sqlite_run_one(
            store, culex__sqlite_bind(store, CULEX__SQLITE_RUN_BY_SEQ, "i", seqs[i]), &run, error);
        if (status == CULEX_OK)
            status = culex__sqlite_run_forget(store, &queue, &run, error);
    }
    if (status == CULEX_OK)
        status = culex__sqlite_queue_save(store, &queue, error);
    *ret_count = count;
    return status;
}

/* One transaction for as many as a batch; callers ask again while they get what they asked for. */
culex_status culex__sqlite_purge(struct culex_store *base, const char *queue, culex_run_state state,
                                 size_t limit, size_t *ret_deleted, culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    size_t deleted = 0, count = 0;
    if (state == CULEX_RUN_ACTIVE || (unsigned)state >= CULEX_RUN_STATE_COUNT)
        return culex__fail(error, CULEX_EINVAL, "active runs cannot be purged");
    int64_t *seqs = malloc(CULEX__SQLITE_BATCH_MAX * sizeof *seqs);
    if (seqs == NULL)
        return culex__sqlite_no_memory(error);
    culex_status status;
    size_t part;
    do {
        part =
            limit - deleted < CULEX__SQLITE_BATCH_MAX ? limit - deleted : CULEX__SQLITE_BATCH_MAX;
        status = culex__sqlite_begin(store, error);
        if (status != CULEX_OK)
            break;
        status = purge_all(store, queue, state, seqs, part, &count, error);
        status = culex__sqlite_end_transaction(store, status, error);
        deleted += status == CULEX_OK ? count : 0;
    } while (status == CULEX_OK && count == part && deleted < limit);
    free(seqs);
    if (status == CULEX_OK)
        *ret_deleted = deleted;
    return status;
}
