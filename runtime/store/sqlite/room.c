/* store/sqlite/room.c - operations that write, and what they do when there is no room. */
#include "store/sqlite/room.h"

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "store/sqlite/checkpoint.h"
#include "store/sqlite/clock.h"
#include "store/sqlite/opening.h"
#include "store/sqlite/place.h"
#include "store/sqlite/producer.h"
#include "store/sqlite/reserve.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/verbs.h"
#include "base/error.h"

enum {
    STEP_TRIES = 6,
    ATTEMPT_TRIES = 3,      /* as it is, with the log written back, with half of the reserve */
    PAGES_MAX = 1073741823, /* SQLite's own default */
    MIB = 1024 * 1024,
};

/* --- making it ------------------------------------------------------------------------- */

/* A log that is all written back is room by itself. True when it is. */
static bool log_reuse(struct culex_sqlite *store)
{
    culex__sqlite_clock_start(store);
    return culex__sqlite_checkpoint(store, false) == CULEX__SQLITE_WRITTEN_BACK;
}

/* The same, if need be with the reserve, down to `least`, for what the file has to grow. */
static bool log_work_off(struct culex_sqlite *store, enum culex_sqlite_reserve_level least)
{
    enum culex_sqlite_written written;
    enum culex_sqlite_reserve_level seen;
    do {
        seen = culex__sqlite_reserve_level(store);
        culex__sqlite_clock_start(store);
        written = culex__sqlite_checkpoint(store, false);
    } while (written == CULEX__SQLITE_WRITTEN_NO_ROOM && seen > least &&
             culex__sqlite_reserve_give(store, seen));
    return written == CULEX__SQLITE_WRITTEN_BACK;
}

/* After try number `tries` of an operation that found no room, when `seen` was left of the reserve
 * and it may go down to `least`: true when another try is worth while. A log that is written back
 * may still be too short for the operation, and an empty one always is: then the next try finds no
 * room either, and the one after it has the reserve. */
static bool make_room(struct culex_sqlite *store, int tries, enum culex_sqlite_reserve_level seen,
                      enum culex_sqlite_reserve_level least)
{
    if (tries == 0 && log_work_off(store, CULEX__SQLITE_RESERVE_NONE))
        return true;
    return seen > least && culex__sqlite_reserve_give(store, seen);
}

/* --- enqueues -------------------------------------------------------------------------- */

static culex_status refuse(const struct culex_sqlite *store, culex_error *error)
{
    return culex__fail(error, CULEX_EFULL,
                       "%s: the disk is full; the reserve of %d MiB (%s-reserve) is being used so "
                       "that workers can go on. Nothing was changed; enqueues go on once %d MiB "
                       "are free, or ended runs have left %d MiB in the file",
                       store->path, CULEX__SQLITE_RESERVE_BYTES / MIB, store->path,
                       (CULEX__SQLITE_RESERVE_BYTES + CULEX__SQLITE_AIR_BYTES) / MIB,
                       CULEX__SQLITE_AIR_BYTES / MIB);
}

culex_status culex__sqlite_room_check(struct culex_sqlite *store,
                                      enum culex_sqlite_reserve_level level, culex_error *error)
{
    int64_t pages = 0, page_bytes = 0;
    if (level == CULEX__SQLITE_RESERVE_WHOLE)
        return CULEX_OK;
    culex__sqlite_clock_start(store);
    culex_status status = culex__sqlite_ask_pragma(store, "freelist_count", &pages, error);
    if (status == CULEX_OK)
        status = culex__sqlite_ask_pragma(store, "page_size", &page_bytes, error);
    if (status == CULEX_OK && pages * page_bytes < CULEX__SQLITE_AIR_BYTES)
        status = refuse(store, error);
    return status;
}

/* The log has to fit into the file once it can be written back, with the reserve for its growth. */
static bool log_fits(const struct culex_sqlite *store, int64_t bytes)
{
    struct statvfs disk;
    if (bytes == 0 || store->reserve.fd < 0 || fstatvfs(store->reserve.fd, &disk) != 0)
        return true;
    return bytes <= (int64_t)disk.f_bavail * (int64_t)disk.f_frsize + CULEX__SQLITE_RESERVE_BYTES;
}

static culex_status check_log(struct culex_sqlite *store, culex_error *error)
{
    int64_t bytes = culex__sqlite_log_overhang(store);
    if (log_fits(store, bytes) || log_reuse(store))
        return CULEX_OK;
    return culex__fail(error, CULEX_EFULL,
                       "%s: the disk is nearly full, and its log of %lld MiB cannot be written "
                       "back: a program keeps a transaction on this file open. End that, or make "
                       "room; nothing was changed",
                       store->path, (long long)(bytes / MIB));
}

/* Whether the file may grow; a limit below its size means its size. */
static void growth_set(struct culex_sqlite *store, bool is_allowed)
{
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA max_page_count=%d", is_allowed ? PAGES_MAX : 1);
    sqlite3_exec(store->db, sql, NULL, NULL, NULL);
}

/* An enqueue or a tick. */
typedef culex_status (*adding_fn)(struct culex_sqlite *store, const void *request,
                                  culex_error *error);

static culex_status add_at(struct culex_sqlite *store, enum culex_sqlite_reserve_level level,
                           adding_fn call, const void *request, culex_error *error)
{
    bool is_tight = level != CULEX__SQLITE_RESERVE_WHOLE;
    culex_status status = culex__sqlite_room_check(store, level, error);
    if (status == CULEX_OK)
        status = check_log(store, error);
    if (status != CULEX_OK)
        return status;
    if (is_tight)
        growth_set(store, false);
    status = call(store, request, error);
    if (status == CULEX_EFULL && log_reuse(store))
        status = call(store, request, error);
    if (is_tight)
        growth_set(store, true);
    return status;
}

/* Ended runs have left pages, and the log may keep them from being used: it waits for room to be
 * written back. Where deleting wrote little, no worker had to make that room. */
static bool log_release(struct culex_sqlite *store)
{
    return culex__sqlite_room_check(store, CULEX__SQLITE_RESERVE_HALF, NULL) == CULEX_OK &&
           log_work_off(store, CULEX__SQLITE_RESERVE_HALF);
}

static culex_status add(struct culex_sqlite *store, adding_fn call, const void *request,
                        culex_error *error)
{
    enum culex_sqlite_reserve_level level = culex__sqlite_reserve_renew(store);
    culex_status status = add_at(store, level, call, request, error);
    if (status == CULEX_EFULL && level == CULEX__SQLITE_RESERVE_WHOLE && log_release(store))
        status = add_at(store, culex__sqlite_reserve_level(store), call, request, error);
    return status;
}

struct enqueue_request {
    const char *queue;
    struct culex_sqlite_call call;
};

static culex_status enqueue_call(struct culex_sqlite *store, const void *request,
                                 culex_error *error)
{
    const struct enqueue_request *enqueue = request;
    return culex__sqlite_enqueue(&store->base, enqueue->queue, enqueue->call.ticket,
                                 enqueue->call.runs, enqueue->call.count, enqueue->call.results,
                                 error);
}

static culex_status reserved_enqueue(struct culex_store *base, const char *queue,
                                     const struct culex_ticket *ticket,
                                     const struct culex_new_run *runs, size_t count,
                                     struct culex_enqueue_result *results, culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    struct enqueue_request request = {queue, {ticket, runs, count, results}};
    culex_status status = add(store, enqueue_call, &request, error);
    /* What was done before there was no room needs none to be told. */
    if (status == CULEX_EFULL && culex__sqlite_enqueue_is_known(store, queue, &request.call))
        return CULEX_OK;
    return status;
}

struct each_request {
    const char *queue;
    const struct culex_ticket *tickets;
    const struct culex_new_run *runs;
    size_t count;
    struct culex_enqueue_result *results;
};

static culex_status each_call(struct culex_sqlite *store, const void *request, culex_error *error)
{
    const struct each_request *each = request;
    return culex__sqlite_enqueue_each(&store->base, each->queue, each->tickets, each->runs,
                                      each->count, each->results, error);
}

static culex_status reserved_enqueue_each(struct culex_store *base, const char *queue,
                                          const struct culex_ticket *tickets,
                                          const struct culex_new_run *runs, size_t count,
                                          struct culex_enqueue_result *results, culex_error *error)
{
    struct each_request request = {queue, tickets, runs, count, results};
    return add(culex__sqlite_of(base), each_call, &request, error);
}

struct tick_request {
    const struct culex_tick *tick;
    struct culex_tick_reply *reply;
};

static culex_status tick_call(struct culex_sqlite *store, const void *request, culex_error *error)
{
    const struct tick_request *tick = request;
    return culex__sqlite_tick(&store->base, tick->tick, tick->reply, error);
}

static culex_status reserved_tick(struct culex_store *base, const struct culex_tick *tick,
                                  struct culex_tick_reply *ret_reply, culex_error *error)
{
    struct tick_request request = {tick, ret_reply};
    return add(culex__sqlite_of(base), tick_call, &request, error);
}

struct turn_request {
    const char *queue, *schedule;
    int64_t asking;
    const struct culex_new_run *run;
    struct culex_enqueue_result *result;
};

static culex_status turn_call(struct culex_sqlite *store, const void *request, culex_error *error)
{
    const struct turn_request *turn = request;
    return culex__sqlite_schedule_run(&store->base, turn->queue, turn->schedule, turn->asking,
                                      turn->run, turn->result, error);
}

static culex_status reserved_schedule_run(struct culex_store *base, const char *queue,
                                          const char *schedule, int64_t asking,
                                          const struct culex_new_run *run,
                                          struct culex_enqueue_result *ret_result,
                                          culex_error *error)
{
    struct turn_request request = {queue, schedule, asking, run, ret_result};
    return add(culex__sqlite_of(base), turn_call, &request, error);
}

/* --- steps ----------------------------------------------------------------------------- */

/* Log lines are no results: the reserve is not for them, nor is the room that was not enough. */
static culex_status step_once(struct culex_sqlite *store, const struct culex_step *request,
                              bool leaves_lines, struct culex_step_reply *ret_reply,
                              culex_error *error)
{
    store->leaves_lines = leaves_lines;
    store->has_left = false;
    culex_status status = culex__sqlite_step(&store->base, request, ret_reply, error);
    store->leaves_lines = false;
    if (status == CULEX_OK)
        ret_reply->lines_left = store->has_left;
    return status;
}

static culex_status reserved_step(struct culex_store *base, const struct culex_step *step,
                                  struct culex_step_reply *ret_reply, culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    struct culex_step request = *step;
    enum culex_sqlite_reserve_level level = culex__sqlite_reserve_renew(store);
    culex_status status = CULEX_EFULL;
    for (int tries = 0; tries < STEP_TRIES; tries++) {
        bool is_tight = tries > 0 || level != CULEX__SQLITE_RESERVE_WHOLE;
        status = step_once(store, &request, is_tight, ret_reply, error);
        if (status != CULEX_EFULL)
            break;
        bool is_made = make_room(store, tries, level, CULEX__SQLITE_RESERVE_NONE);
        if (!is_made && request.want == 0)
            break;
        if (!is_made)
            request.want = 0; /* the room that is left is for results */
        level = culex__sqlite_reserve_level(store);
    }
    if (status == CULEX_OK && level != CULEX__SQLITE_RESERVE_WHOLE)
        ret_reply->room = request.want < step->want ? CULEX_ROOM_NONE : CULEX_ROOM_SHORT;
    return status;
}

/* --- the others ------------------------------------------------------------------------ */

/* What a worker says of itself, and an operator does to make room, may use the first half. */
struct attempt {
    struct culex_sqlite *store;
    enum culex_sqlite_reserve_level level; /* before the next try */
    int tries;                             /* that found no room */
};

static struct attempt attempt_first(struct culex_store *base)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    return (struct attempt){.store = store, .level = culex__sqlite_reserve_renew(store)};
}

/* After a try that came to `status`: true when there may be room now for another one. */
static bool attempt_again(struct attempt *attempt, culex_status status)
{
    if (status != CULEX_EFULL || attempt->tries + 1 == ATTEMPT_TRIES)
        return false;
    bool is_made =
        make_room(attempt->store, attempt->tries, attempt->level, CULEX__SQLITE_RESERVE_HALF);
    attempt->level = culex__sqlite_reserve_level(attempt->store);
    attempt->tries++;
    return is_made;
}

#define ATTEMPT_ADDS(name, parameters, arguments)
#define ATTEMPT_READS(name, parameters, arguments)
#define ATTEMPT_MANAGES(name, parameters, arguments)                                               \
    static culex_status reserved_##name parameters                                                 \
    {                                                                                              \
        struct attempt attempt = attempt_first(store);                                             \
        culex_status status;                                                                       \
        do {                                                                                       \
            status = culex__sqlite_##name arguments;                                               \
        } while (attempt_again(&attempt, status));                                                 \
        return status;                                                                             \
    }
#define VERB(name, effect, parameters, arguments, check)                                           \
    ATTEMPT_##effect(name, parameters, arguments)
#include "store/verbs.def"
#undef VERB

/* A retry that finds no room waits for an operator, as an enqueue does. */
static culex_status reserved_retry(struct culex_store *base, const char *queue, culex_uuid id,
                                   culex_error *error)
{
    return culex__sqlite_retry(base, queue, id, error);
}

/* As an enqueue. */
static culex_status reserved_batch(struct culex_store *base, const struct culex_batch_order *order,
                                   culex_error *error)
{
    return culex__sqlite_batch(base, order, error);
}

/* Who waits for an end looks by himself where that cannot be noted. */
static culex_status reserved_wait(struct culex_store *base, const char *queue,
                                  const culex_uuid *ids, size_t count, int64_t note_ms,
                                  culex_run_state *ret_states, culex_error *error)
{
    return culex__sqlite_wait(base, queue, ids, count, note_ms, ret_states, error);
}

/* The reserve is not for figures, which can wait. */
static culex_status reserved_figures_add(struct culex_store *base, const char *queue,
                                         const char *session, uint64_t number,
                                         const struct culex_figure_row *rows, size_t count,
                                         culex_error *error)
{
    return culex__sqlite_figures_add(base, queue, session, number, rows, count, error);
}

/* Nor for schemas: whoever has the job tells them again. */
static culex_status reserved_schema_publish(struct culex_store *base, const char *queue,
                                            const struct culex_schema_text *schema,
                                            culex_error *error)
{
    return culex__sqlite_schema_publish(base, queue, schema, error);
}

static culex_status reserved_schema_sweep(struct culex_store *base, const char *queue,
                                          struct culex_schema_list *ret_list,
                                          uint64_t *ret_arrivals, culex_error *error)
{
    return culex__sqlite_schema_sweep(base, queue, ret_list, ret_arrivals, error);
}

static culex_status reserved_schema_drop(struct culex_store *base, const char *queue,
                                         const struct culex_schema_drop *drop, culex_error *error)
{
    return culex__sqlite_schema_drop(base, queue, drop, error);
}

#define MEMBER_ADDS(name)    .name = reserved_##name,
#define MEMBER_MANAGES(name) .name = reserved_##name,
#define MEMBER_READS(name)   .name = culex__sqlite_##name,

const struct culex_store_ops culex__sqlite_ops = {
    .name = "sqlite",
#define VERB_OF_PRODUCERS(name, effect, parameters, arguments, check) MEMBER_##effect(name)
#ifdef CULEX_PRODUCER_ONLY
    .lacks = CULEX__STORE_PRODUCER_LACKS,
#define VERB(name, effect, parameters, arguments, check)
#else
    .step_release = culex__sqlite_step_release,
    .list_release = culex__sqlite_list_release,
#define VERB VERB_OF_PRODUCERS
#endif
#include "store/verbs.def"
#undef VERB
    .wake_disarm = culex__sqlite_wake_disarm,
    .place_tell = culex__sqlite_place_tell,
    .close = culex__sqlite_close,
    .abandon = culex__sqlite_abandon,
};
