/* store/sqlite/schedule.c - periodic runs: TICK, and what is told of schedules and done to them. */
#include <assert.h>
#include <string.h>

#include "store/sqlite/body.h"
#include "store/sqlite/error.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/verb.h"
#include "store/sqlite/verbs.h"
#include "store/argument.h"
#include "store/refusal.h"
#include "store/schedule_list.h"
#include "base/error.h"

/* A schedule as it is kept. */
struct schedule {
    bool is_known;
    struct culex_schedule_row row;
    int64_t asking;
    culex_uuid brought;               /* by the call of asking */
    struct culex_schedule_list owner; /* of the row's texts, where it was read */
};

/* ORDER SCHEDULE: the columns of table schedule. */
enum {
    COLUMN_NAME = 1,
    COLUMN_MARK,
    COLUMN_NEWEST,
    COLUMN_NEXT,
    COLUMN_ASKED,
    COLUMN_BROUGHT,
    COLUMN_OF_CALENDAR,
    COLUMN_OVERLAP,
    COLUMN_PAUSED,
    COLUMN_TEMPLATE
};

static culex_uuid id_read(sqlite3_stmt *found, int column)
{
    culex_uuid id = {{0}};
    if (sqlite3_column_bytes(found, column) == sizeof id)
        memcpy(&id, sqlite3_column_blob(found, column), sizeof id);
    return id;
}

/* What it points to lasts until the statement goes on. */
static struct culex_schedule_row row_read(sqlite3_stmt *found)
{
    const char *name = (const char *)sqlite3_column_text(found, COLUMN_NAME);
    struct culex_schedule_row row = {
        .name = name != NULL ? name : "",
        .mark_ms = sqlite3_column_int64(found, COLUMN_MARK),
        .next_ms = sqlite3_column_int64(found, COLUMN_NEXT),
        .is_of_calendar = sqlite3_column_int(found, COLUMN_OF_CALENDAR) != 0,
        .may_overlap = sqlite3_column_int(found, COLUMN_OVERLAP) != 0,
        .is_paused = sqlite3_column_int(found, COLUMN_PAUSED) != 0,
        .template = sqlite3_column_blob(found, COLUMN_TEMPLATE),
        .template_len = (size_t)sqlite3_column_bytes(found, COLUMN_TEMPLATE),
    };
    row.newest = id_read(found, COLUMN_NEWEST);
    return row;
}

/* Release it in any case. */
static culex_status schedule_load(struct culex_sqlite *store, int64_t queue, const char *name,
                                  struct schedule *ret_schedule, culex_error *error)
{
    culex_status status = CULEX_OK;
    *ret_schedule = (struct schedule){.row = {.name = name}};
    sqlite3_stmt *found = SQL_BIND(store, SCHEDULE_GET, SQL_INT(queue), SQL_TEXT(name));
    int has = culex__sqlite_next(store, found, error);
    if (has > 0) {
        struct culex_schedule_row row = row_read(found);
        ret_schedule->asking = sqlite3_column_int64(found, COLUMN_ASKED);
        ret_schedule->brought = id_read(found, COLUMN_BROUGHT);
        ret_schedule->is_known = culex__schedule_list_add(&ret_schedule->owner, &row);
        if (ret_schedule->is_known)
            ret_schedule->row = ret_schedule->owner.rows[0];
        else
            status = culex__sqlite_no_memory(error);
    }
    culex__sqlite_end(found);
    return has < 0 ? (culex_status)has : status;
}

static void schedule_release(struct schedule *schedule)
{
    culex__schedule_list_release(&schedule->owner);
}

static culex_status schedule_save(struct culex_sqlite *store, int64_t queue,
                                  const struct schedule *schedule, culex_error *error)
{
    const struct culex_schedule_row *row = &schedule->row;
    const void *template = row->template_len > 0 ? row->template : "";
    return culex__sqlite_finish(store,
                                SQL_BIND(store, SCHEDULE_SET, SQL_INT(queue), SQL_TEXT(row->name),
                                         SQL_INT(row->mark_ms), SQL_ID(&row->newest),
                                         SQL_INT(row->next_ms), SQL_INT(schedule->asking),
                                         SQL_ID(&schedule->brought), SQL_INT(row->is_of_calendar),
                                         SQL_INT(row->may_overlap), SQL_INT(row->is_paused),
                                         SQL_BYTES(template, row->template_len)),
                                error);
}

/* --- TICK ------------------------------------------------------------------------------------- */

static culex_status newest_is_live(struct culex_sqlite *store,
                                   const struct culex_sqlite_queue *queue, culex_uuid id,
                                   bool *ret_is_live, culex_error *error)
{
    int64_t seq = culex__sqlite_queue_seq(queue, id), is_live;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, RUN_IS_LIVE, SQL_INT(seq), SQL_ID(&id)), 0, &is_live, error);
    *ret_is_live = is_live;
    if (status != CULEX_OK || is_live)
        return status;
    return culex__sqlite_body_is_live(store, queue, id, ret_is_live, error);
}

/* Where the schedule's tick stands; false when it is not due. */
static bool tick_is_due(const struct schedule *schedule, const struct culex_tick *tick,
                        int64_t now_ms, int64_t *ret_at_ms)
{
    int64_t mark_ms = schedule->row.mark_ms;
    int64_t least_ms = tick->is_of_calendar ? 1 : tick->interval_ms;
    if (tick->is_of_calendar && tick->tick_ms > now_ms)
        return false;
    *ret_at_ms = tick->tick_ms != 0 && tick->tick_ms < now_ms ? tick->tick_ms : now_ms;
    if (!schedule->is_known)
        return true;
    if (mark_ms > culex__sqlite_later(now_ms, tick->interval_ms)) {
        /* The mark was made by a clock that was ahead. */
        *ret_at_ms = tick->is_of_calendar ? *ret_at_ms : now_ms;
        return true;
    }
    return *ret_at_ms >= culex__sqlite_later(mark_ms, least_ms);
}

/* A live run takes the tick over, or a new one is made; false where that was refused. */
static culex_status tick_enqueue(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                 const struct culex_tick *tick, struct schedule *schedule,
                                 bool *ret_is_taken, bool *ret_is_enqueued, culex_error *error)
{
    struct culex_enqueue_result result = {CULEX_ENQUEUED_FULL, {{0}}};
    culex_status status = CULEX_OK;
    *ret_is_taken = schedule->row.is_paused;
    if (!*ret_is_taken && !tick->may_overlap)
        status = newest_is_live(store, queue, schedule->row.newest, ret_is_taken, error);
    if (status != CULEX_OK || *ret_is_taken)
        return status;
    status = culex__sqlite_enqueue_periodic(store, queue, tick->run, &result, error);
    if (status != CULEX_OK || result.outcome != CULEX_ENQUEUED_NEW)
        return status;
    schedule->row.newest = result.id;
    *ret_is_taken = *ret_is_enqueued = true;
    return CULEX_OK;
}

/* What the schedule's row tells others. */
static void tick_tell(struct schedule *schedule, const struct culex_tick *tick, bool is_taken,
                      int64_t now_ms)
{
    schedule->row.is_of_calendar = tick->is_of_calendar;
    if (tick->run == NULL)
        return;
    if (tick->is_of_calendar && tick->tick_ms > now_ms)
        schedule->row.next_ms = tick->tick_ms;
    else if (is_taken || !tick->is_of_calendar)
        schedule->row.next_ms = culex__sqlite_later(schedule->row.mark_ms, tick->interval_ms);
    schedule->row.may_overlap = tick->may_overlap;
    if (tick->template_len > 0) {
        schedule->row.template = tick->template;
        schedule->row.template_len = tick->template_len;
    }
}

static bool row_is_same(const struct culex_schedule_row *a, const struct culex_schedule_row *b)
{
    return a->mark_ms == b->mark_ms && a->next_ms == b->next_ms &&
           a->is_of_calendar == b->is_of_calendar && a->may_overlap == b->may_overlap &&
           memcmp(&a->newest, &b->newest, sizeof a->newest) == 0 &&
           a->template_len == b->template_len &&
           (a->template_len == 0 || memcmp(a->template, b->template, a->template_len) == 0);
}

struct tick_request {
    const struct culex_tick *tick;
    struct culex_tick_reply *reply;
};

static culex_status tick_do(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                            const struct tick_request *request, struct schedule *schedule,
                            culex_error *error)
{
    const struct culex_tick *tick = request->tick;
    const struct schedule before = *schedule;
    int64_t at_ms = 0;
    bool is_due = tick_is_due(schedule, tick, store->now_ms, &at_ms), is_taken = is_due;
    culex_status status = CULEX_OK;
    if (tick->run == NULL)
        is_taken = is_due && !before.is_known;
    else if (is_due)
        status = tick_enqueue(store, queue, tick, schedule, &is_taken, &request->reply->is_enqueued,
                              error);
    if (status != CULEX_OK)
        return status;
    if (is_taken)
        schedule->row.mark_ms = at_ms;
    schedule->is_known = before.is_known || is_taken;
    request->reply->mark_ms = schedule->row.mark_ms;
    bool is_told = is_taken || (tick->run != NULL && !is_due);
    if (!schedule->is_known || !is_told)
        return CULEX_OK;
    tick_tell(schedule, tick, is_taken, store->now_ms);
    return before.is_known && row_is_same(&schedule->row, &before.row)
               ? CULEX_OK
               : schedule_save(store, queue->key, schedule, error);
}

static culex_status tick_all(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                             void *user, culex_error *error)
{
    const struct tick_request *request = user;
    struct schedule schedule;
    culex_status status =
        schedule_load(store, queue->key, request->tick->schedule, &schedule, error);
    if (status == CULEX_OK)
        status = tick_do(store, queue, request, &schedule, error);
    schedule_release(&schedule);
    return status;
}

culex_status culex__sqlite_tick(struct culex_store *base, const struct culex_tick *tick,
                                struct culex_tick_reply *ret_reply, culex_error *error)
{
    assert(culex__argument_tick(tick, NULL) == CULEX_OK);
    struct culex_sqlite *store = culex__sqlite_of(base);
    struct culex_tick_reply reply = {0};
    struct tick_request request = {tick, &reply};
    culex_status status = culex__sqlite_verb_write(store, tick->queue, CULEX__SQLITE_ABSENT_MADE,
                                                   tick_all, &request, error);
    reply.now_ms = store->now_ms;
    if (status == CULEX_OK)
        *ret_reply = reply;
    return status;
}

/* --- SCHEDULES -------------------------------------------------------------------------------- */

static culex_status schedules_read(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                   void *user, culex_error *error)
{
    struct culex_schedule_list *list = user;
    sqlite3_stmt *found = SQL_BIND(store, SCHEDULE_LIST, SQL_INT(queue->key));
    culex_status status = CULEX_OK;
    int has = 0;
    while (status == CULEX_OK && (has = culex__sqlite_next(store, found, error)) > 0) {
        struct culex_schedule_row row = row_read(found);
        if (!culex__schedule_list_add(list, &row))
            status = culex__sqlite_no_memory(error);
    }
    culex__sqlite_end(found);
    return has < 0 ? (culex_status)has : status;
}

culex_status culex__sqlite_schedules(struct culex_store *base, const char *queue,
                                     struct culex_schedule_list *ret_list, culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    struct culex_schedule_list list = {0};
    culex_status status = culex__sqlite_verb_read(store, queue, CULEX__SQLITE_ABSENT_EMPTY,
                                                  schedules_read, &list, error);
    list.now_ms = store->now_ms;
    if (status == CULEX_OK)
        *ret_list = list;
    else
        culex__schedule_list_release(&list);
    return status;
}

/* --- SCHEDULE_SET ----------------------------------------------------------------------------- */

struct set_request {
    const char *queue, *name;
    enum culex_schedule_act act;
};

static culex_status set_do(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                           enum culex_schedule_act act, struct schedule *schedule,
                           culex_error *error)
{
    struct culex_schedule_row *row = &schedule->row;
    if (act == CULEX_SCHEDULE_FORGET)
        return culex__sqlite_finish(
            store, SQL_BIND(store, SCHEDULE_DROP, SQL_INT(queue->key), SQL_TEXT(row->name)), error);
    bool was_paused = row->is_paused;
    row->is_paused = act == CULEX_SCHEDULE_PAUSE;
    if (was_paused && !row->is_paused && row->is_of_calendar && row->mark_ms < store->now_ms)
        row->mark_ms = store->now_ms;
    return was_paused == row->is_paused ? CULEX_OK
                                        : schedule_save(store, queue->key, schedule, error);
}

static culex_status set_all(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                            void *user, culex_error *error)
{
    const struct set_request *request = user;
    struct schedule schedule;
    culex_status status = schedule_load(store, queue->key, request->name, &schedule, error);
    if (status == CULEX_OK)
        status = schedule.is_known ? set_do(store, queue, request->act, &schedule, error)
                                   : culex__refuse_schedule(request->queue, request->name, error);
    schedule_release(&schedule);
    return status;
}

culex_status culex__sqlite_schedule_set(struct culex_store *base, const char *queue,
                                        const char *schedule, enum culex_schedule_act act,
                                        culex_error *error)
{
    struct set_request request = {queue, schedule, act};
    return culex__sqlite_verb_write(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_EMPTY,
                                    set_all, &request, error);
}

/* --- SCHEDULE_RUN ----------------------------------------------------------------------------- */

struct run_request {
    const char *queue, *name;
    int64_t asking;
    const struct culex_new_run *run;
    struct culex_enqueue_result *result;
};

static culex_status run_do(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                           const struct run_request *request, struct schedule *schedule,
                           culex_error *error)
{
    bool is_live = false;
    culex_status status = CULEX_OK;
    *request->result = (struct culex_enqueue_result){CULEX_ENQUEUED_NEW, schedule->brought};
    if (schedule->asking == request->asking)
        return CULEX_OK;
    if (!schedule->row.may_overlap)
        status = newest_is_live(store, queue, schedule->row.newest, &is_live, error);
    if (status == CULEX_OK && is_live)
        *request->result =
            (struct culex_enqueue_result){CULEX_ENQUEUED_UNIQUE_TAKEN, schedule->row.newest};
    if (status != CULEX_OK || is_live)
        return status;
    status = culex__sqlite_enqueue_periodic(store, queue, request->run, request->result, error);
    if (status != CULEX_OK || request->result->outcome != CULEX_ENQUEUED_NEW)
        return status;
    schedule->row.newest = schedule->brought = request->result->id;
    schedule->asking = request->asking;
    return schedule_save(store, queue->key, schedule, error);
}

static culex_status run_all(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                            void *user, culex_error *error)
{
    const struct run_request *request = user;
    struct schedule schedule;
    culex_status status = schedule_load(store, queue->key, request->name, &schedule, error);
    if (status == CULEX_OK)
        status = schedule.is_known ? run_do(store, queue, request, &schedule, error)
                                   : culex__refuse_schedule(request->queue, request->name, error);
    schedule_release(&schedule);
    return status;
}

culex_status culex__sqlite_schedule_run(struct culex_store *base, const char *queue,
                                        const char *schedule, int64_t asking,
                                        const struct culex_new_run *run,
                                        struct culex_enqueue_result *ret_result, culex_error *error)
{
    struct culex_enqueue_result result;
    struct run_request request = {queue, schedule, asking, run, &result};
    culex_status status = culex__sqlite_verb_write(
        culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_EMPTY, run_all, &request, error);
    if (status == CULEX_OK)
        *ret_result = result;
    return status;
}
