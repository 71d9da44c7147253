/* store/sqlite/manage.c - the operator's verbs, and HELLO. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "store/sqlite/body.h"
#include "store/sqlite/error.h"
#include "store/sqlite/event_notes.h"
#include "store/sqlite/memo.h"
#include "store/sqlite/retention.h"
#include "store/sqlite/run.h"
#include "store/sqlite/session.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/unique.h"
#include "store/sqlite/verb.h"
#include "store/sqlite/verbs.h"
#include "store/refusal.h"
#include "store/argument.h"
#include "base/error.h"
#include "core/needs.h"
#include "core/run_id.h"

/* --- HELLO ----------------------------------------------------------------------------- */

static culex_status previous_session(struct culex_sqlite *store,
                                     const struct culex_sqlite_queue *queue, const char *worker,
                                     char ret_session[CULEX__SQLITE_SESSION_SIZE],
                                     culex_error *error)
{
    sqlite3_stmt *statement = SQL_BIND(store, WORKER_GET, SQL_INT(queue->key), SQL_TEXT(worker));
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
    bool is_aside;
    culex_status status =
        culex__sqlite_run_or_aside(store, queue, CULEX_RUN_ACTIVE, seq, &run, &is_aside, error);
    if (status != CULEX_OK || is_aside)
        return status;
    snprintf(how, sizeof how, "the process of worker %s was replaced", worker);
    return culex__sqlite_run_vanish(store, queue, &run, how, error);
}

/* Ordinary ones go back as runs of their own. */
static culex_status blocks_take_back(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                     const char *session, culex_error *error)
{
    struct culex_sqlite_block block;
    size_t count;
    culex_status status = CULEX_OK;
    while (status == CULEX_OK) {
        status = culex__sqlite_block_one(
            store, SQL_BIND(store, BLOCK_BY, SQL_INT(queue->key), SQL_TEXT(session)), &block,
            error);
        if (status == CULEX_OK)
            status = culex__sqlite_block_adopt(store, queue, &block, CULEX__SQLITE_BLOCK_MAX,
                                               &count, error);
    }
    return status == CULEX_ENOTFOUND ? CULEX_OK : status;
}

/* In rounds, to bound the memory; what a session holds is bounded by its own claims. */
static culex_status take_back_all(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                  const char *session, const char *worker, size_t *ret_released,
                                  culex_error *error)
{
    enum { ROUND = 64 };
    int64_t seqs[ROUND];
    size_t count = ROUND;
    culex_status status = blocks_take_back(store, queue, session, error);
    while (status == CULEX_OK && count == ROUND) {
        status = culex__sqlite_collect(
            store, SQL_BIND(store, HELD_BY, SQL_INT(queue->key), SQL_TEXT(session)), ROUND, seqs,
            &count, error);
        for (size_t i = 0; i < count && status == CULEX_OK; i++) {
            status = held_take_back(store, queue, seqs[i], worker, error);
            *ret_released += status == CULEX_OK;
        }
    }
    return status;
}

/* Its memo is there as long as it speaks, and the worker's name as long as the memo. */
static culex_status session_begin(struct culex_sqlite *store,
                                  const struct culex_sqlite_queue *queue, const char *worker,
                                  const char *session, culex_error *error)
{
    culex_status status = culex__sqlite_memo_begin(store, queue, session, error);
    if (status != CULEX_OK)
        return status;
    return culex__sqlite_finish(store,
                                SQL_BIND(store, WORKER_SET, SQL_INT(queue->key), SQL_TEXT(worker),
                                         SQL_TEXT(session), SQL_INT(store->now_ms)),
                                error);
}

struct hello_request {
    const char *worker, *session;
    size_t released;
};

static culex_status hello_all(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              void *user, culex_error *error)
{
    struct hello_request *request = user;
    const char *worker = request->worker, *session = request->session;
    char previous[CULEX__SQLITE_SESSION_SIZE];
    culex_status status = previous_session(store, queue, worker, previous, error);
    if (status == CULEX_OK && previous[0] != '\0' && strcmp(previous, session) != 0) {
        status = take_back_all(store, queue, previous, worker, &request->released, error);
        if (status == CULEX_OK)
            status = culex__sqlite_memo_replace(store, queue, previous, error);
    }
    if (status == CULEX_OK)
        status = session_begin(store, queue, worker, session, error);
    return status == CULEX_OK ? culex__sqlite_silent_forget(store, error) : status;
}

culex_status culex__sqlite_hello(struct culex_store *base, const char *queue, const char *worker,
                                 const char *session, size_t *ret_released, int64_t *ret_now_ms,
                                 culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    struct hello_request request = {worker, session, 0};
    assert(culex__argument_hello(queue, worker, session, NULL) == CULEX_OK);
    culex_status status = culex__sqlite_verb_write(store, queue, CULEX__SQLITE_ABSENT_MADE,
                                                   hello_all, &request, error);
    if (status == CULEX_OK) {
        *ret_released = request.released;
        *ret_now_ms = store->now_ms;
    }
    return status;
}

/* --- verbs on one run ------------------------------------------------------------------ */

/* What a verb does with the run it names. */
typedef culex_status (*run_action)(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                   struct culex_sqlite_run *run, culex_error *error);

struct run_request {
    culex_uuid id;
    run_action action;
    struct culex_sqlite_run *run;
};

static culex_status act(struct culex_sqlite *store, struct culex_sqlite_queue *queue, void *user,
                        culex_error *error)
{
    const struct run_request *request = user;
    culex_status status = culex__sqlite_body_or_run(store, queue, request->id, request->run, error);
    if (status == CULEX_ENOTFOUND)
        return culex__refuse_run(queue->name, error);
    return status == CULEX_OK ? request->action(store, queue, request->run, error) : status;
}

static culex_status act_on_run(struct culex_store *base, const char *queue, culex_uuid id,
                               run_action action, struct culex_sqlite_run *ret_run,
                               culex_error *error)
{
    struct run_request request = {id, action, ret_run};
    return culex__sqlite_verb_write(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_EMPTY, act,
                                    &request, error);
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
    return status == CULEX_ESTATE ? culex__refuse_cancel(run->state, error) : status;
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
    bool is_held;
    if (run->state != CULEX_RUN_DEAD)
        return culex__refuse_retry(error);
    culex_status status = culex__sqlite_unique_revive(store, queue, run, &is_held, error);
    if (status != CULEX_OK)
        return status;
    if (is_held)
        return culex__refuse_rival(error);
    run->is_cancel_requested = false;
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
        return culex__refuse_forget(error);
    culex__sqlite_event(store, queue, CULEX_EVENTS_FORGOTTEN, run->id, run->attempt, NULL);
    return culex__sqlite_run_forget(store, queue, run, error);
}

culex_status culex__sqlite_forget(struct culex_store *base, const char *queue, culex_uuid id,
                                  culex_error *error)
{
    struct culex_sqlite_run run;
    return act_on_run(base, queue, id, forget_run, &run, error);
}

struct move_request {
    culex_uuid id;
    const struct culex_place *place;
};

static culex_status move_run(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                             void *user, culex_error *error)
{
    const struct move_request *request = user;
    struct culex_sqlite_run run;
    culex_status status = culex__sqlite_body_or_run(store, queue, request->id, &run, error);
    if (status == CULEX_ENOTFOUND)
        return culex__refuse_run(queue->name, error);
    return status == CULEX_OK ? culex__sqlite_run_place(store, queue, &run, request->place, error)
                              : status;
}

culex_status culex__sqlite_move(struct culex_store *base, const char *queue, culex_uuid id,
                                const struct culex_place *place, culex_error *error)
{
    struct move_request request = {id, place};
    assert(culex__argument_move(queue, place, NULL) == CULEX_OK);
    return culex__sqlite_verb_write(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_EMPTY,
                                    move_run, &request, error);
}

/* --- verbs on a queue ------------------------------------------------------------------ */

/* Who offers what parked runs need sleeps at a bell of its own for each such need. */
static culex_status needs_ring(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               culex_error *error)
{
    sqlite3_stmt *row =
        SQL_BIND(store, NEEDS_PARKED, SQL_INT(queue->key), SQL_TEXT(CULEX__NEEDS_WORD),
                 SQL_TEXT(CULEX__NEEDS_WORD "~"), SQL_INT(CULEX__SQLITE_BELLS_MAX));
    int has;
    while ((has = culex__sqlite_next(store, row, error)) > 0)
        culex__sqlite_bells_ring(&store->wake.bells,
                                 culex__needs_of_limit((const char *)sqlite3_column_text(row, 1)));
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

/* For so many ms: 0 resumes, INT64_MAX is without an end. */
static culex_status queue_pause(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                void *user, culex_error *error)
{
    int64_t for_ms = *(const int64_t *)user;
    int64_t until_ms = for_ms == 0 || for_ms == INT64_MAX ? for_ms : store->now_ms + for_ms;
    if (queue->paused_until_ms == until_ms)
        return CULEX_OK;
    queue->paused_until_ms = until_ms;
    queue->is_changed = true;
    culex__sqlite_event(store, queue, until_ms == 0 ? CULEX_EVENTS_RESUMED : CULEX_EVENTS_PAUSED,
                        (culex_uuid){{0}}, 0, NULL);
    queue->has_new_work = until_ms == 0;
    queue->has_news = until_ms != 0 && until_ms != INT64_MAX; /* or nobody knows when it is over */
    return until_ms == 0 ? needs_ring(store, queue, error) : CULEX_OK;
}

culex_status culex__sqlite_pause(struct culex_store *base, const char *queue, bool is_paused,
                                 culex_error *error)
{
    int64_t for_ms = is_paused ? INT64_MAX : 0;
    return culex__sqlite_verb_write(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_REFUSED,
                                    queue_pause, &for_ms, error);
}

culex_status culex__sqlite_pause_for(struct culex_store *base, const char *queue, int64_t for_ms,
                                     culex_error *error)
{
    assert(culex__argument_pause_for(queue, for_ms, NULL) == CULEX_OK);
    return culex__sqlite_verb_write(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_REFUSED,
                                    queue_pause, &for_ms, error);
}

static culex_status queue_limit(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                void *user, culex_error *error)
{
    (void)store;
    (void)error;
    const uint64_t *most = user;
    queue->capacity = (int64_t)*most;
    queue->is_changed = true;
    return CULEX_OK;
}

culex_status culex__sqlite_limit(struct culex_store *base, const char *queue, uint64_t most,
                                 culex_error *error)
{
    assert(culex__argument_limit(queue, most, NULL) == CULEX_OK);
    return culex__sqlite_verb_write(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_REFUSED,
                                    queue_limit, &most, error);
}

static culex_status queue_dead_limit(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                     void *user, culex_error *error)
{
    (void)store;
    (void)error;
    const uint64_t *most = user;
    queue->dead_most = (int64_t)*most;
    queue->is_changed = true;
    return CULEX_OK;
}

culex_status culex__sqlite_dead_limit(struct culex_store *base, const char *queue, uint64_t most,
                                      culex_error *error)
{
    assert(culex__argument_dead_limit(queue, most, NULL) == CULEX_OK);
    return culex__sqlite_verb_write(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_REFUSED,
                                    queue_dead_limit, &most, error);
}

static sqlite3_stmt *bind_purge(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                culex_run_state state, int64_t limit)
{
    const struct culex_sqlite_value key = SQL_INT(queue->key), most = SQL_INT(limit);
    if (state == CULEX_RUN_WAITING)
        return SQL_BIND(store, IN_WAITING, key, SQL_INT(store->now_ms), most);
    if (state == CULEX_RUN_SCHEDULED)
        return SQL_BIND(store, IN_SCHEDULED, key, SQL_INT(store->now_ms), most);
    return SQL_BIND(store, IN_STATE, key, SQL_TEXT(culex__sqlite_state_text(state)), most);
}

struct purge_request {
    culex_run_state state;
    size_t limit;
    struct culex_purge_reply reply;
};

/* One that cannot be read is put aside: it stays, as a dead one, and the next PURGE of those has it
 * go. */
static culex_status purge_one(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              struct purge_request *request, int64_t seq, culex_error *error)
{
    struct culex_sqlite_run run;
    bool is_aside;
    culex_run_state from =
        request->state == CULEX_RUN_SCHEDULED ? CULEX_RUN_WAITING : request->state;
    culex_status status =
        culex__sqlite_run_or_aside(store, queue, from, seq, &run, &is_aside, error);
    if (status != CULEX_OK || is_aside)
        return status;
    request->reply.deleted++;
    return culex__sqlite_run_forget(store, queue, &run, error);
}

/* Waiting ones of the highest lane below *lane that has some. */
static culex_status lane_purge(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               int64_t *lane, size_t most, size_t *deleted, culex_error *error)
{
    int64_t seqs[CULEX_STORE_PURGE_MAX], first;
    size_t count = 0;
    culex_status status = culex__sqlite_bodies_find(store, queue, lane, &first, error);
    if (status != CULEX_OK || *lane < 0)
        return status;
    const struct culex_sqlite_value last = SQL_INT(culex__sqlite_queue_lane(queue, *lane + 1) - 1);
    status = culex__sqlite_collect(
        store, SQL_BIND(store, BODIES, SQL_INT(first), last, SQL_INT((int64_t)most)), most, seqs,
        &count, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = culex__sqlite_body_forget(store, queue, seqs[i], error);
    *deleted += count;
    return status;
}

/* Ordinary runs go as they are. */
static culex_status bodies_purge(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                 struct purge_request *request, culex_error *error)
{
    size_t *deleted = &request->reply.deleted;
    int64_t lane = CULEX_RUN_LANE_MAX;
    culex_status status = CULEX_OK;
    if (request->state == CULEX_RUN_DONE)
        return culex__sqlite_ended_forget(store, queue, INT64_MAX, request->limit, deleted, error);
    if (request->state != CULEX_RUN_WAITING)
        return CULEX_OK;
    while (status == CULEX_OK && lane >= 0 && *deleted < request->limit)
        status = lane_purge(store, queue, &lane, request->limit - *deleted, deleted, error);
    return status;
}

static culex_status purge_page(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               void *user, culex_error *error)
{
    struct purge_request *request = user;
    int64_t seqs[CULEX_STORE_PURGE_MAX];
    size_t count = 0;
    request->reply = (struct culex_purge_reply){.is_more = false};
    culex_status status = bodies_purge(store, queue, request, error);
    size_t left = request->limit - request->reply.deleted;
    if (status == CULEX_OK && left > 0)
        status =
            culex__sqlite_collect(store, bind_purge(store, queue, request->state, (int64_t)left),
                                  left, seqs, &count, error);
    request->reply.is_more = count == left;
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = purge_one(store, queue, request, seqs[i], error);
    if (request->reply.deleted > 0)
        culex__sqlite_event(store, queue, CULEX_EVENTS_PURGED, (culex_uuid){{0}},
                            (uint32_t)request->reply.deleted, NULL);
    return status;
}

culex_status culex__sqlite_purge(struct culex_store *base, const char *queue, culex_run_state state,
                                 size_t limit, struct culex_purge_reply *ret_reply,
                                 culex_error *error)
{
    struct purge_request request = {.state = state, .limit = limit};
    assert(culex__argument_purge(queue, state, limit, NULL) == CULEX_OK);
    culex_status status = culex__sqlite_verb_write(
        culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_REFUSED, purge_page, &request, error);
    if (status == CULEX_OK)
        *ret_reply = request.reply;
    return status;
}
