/* store/sqlite/inspect.c - the verbs that only read. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/sqlite/body.h"
#include "store/sqlite/clock.h"
#include "store/sqlite/error.h"
#include "store/sqlite/run.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/transaction.h"
#include "store/sqlite/verb.h"
#include "store/sqlite/verbs.h"
#include "store/refusal.h"
#include "store/argument.h"
#include "store/list_filter.h"
#include "base/error.h"
#include "base/limits.h"
#include "core/progress.h"
#include "core/run_id.h"

/* --- STATS ----------------------------------------------------------------------------- */

static void stats_fill(culex_queue_stats *stats, const struct culex_sqlite *store,
                       const struct culex_sqlite_queue *queue, int64_t scheduled)
{
    for (int state = CULEX_RUN_WAITING; state < CULEX_RUN_STATE_COUNT; state++)
        stats->count[state] = (uint64_t)queue->kept[state];
    stats->count[CULEX_RUN_SCHEDULED] = (uint64_t)scheduled;
    stats->count[CULEX_RUN_WAITING] -= (uint64_t)scheduled;
    stats->enqueued = (uint64_t)queue->enqueued;
    stats->done = (uint64_t)queue->done;
    stats->failed = (uint64_t)queue->failed;
    stats->crashed = (uint64_t)queue->crashed;
    stats->lost = (uint64_t)queue->lost;
    stats->dead = (uint64_t)queue->dead;
    stats->cancelled = (uint64_t)queue->cancelled;
    stats->stale = (uint64_t)queue->stale;
    int64_t resumes_ms = culex__sqlite_queue_resumes_ms(store, queue);
    stats->paused = culex__sqlite_queue_is_paused(store, queue);
    stats->paused_until_ms = resumes_ms != INT64_MAX ? resumes_ms : 0;
    stats->limit = (uint64_t)queue->capacity;
    stats->dead_limit = (uint64_t)queue->dead_most;
}

static culex_status stats_read(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               void *user, culex_error *error)
{
    culex_queue_stats *stats = user;
    int64_t scheduled = 0;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, QUEUE_DELAYED, SQL_INT(queue->key), SQL_INT(store->now_ms)), 0,
        &scheduled, error);
    stats_fill(stats, store, queue, scheduled);
    stats->now_ms = store->now_ms;
    return status;
}

culex_status culex__sqlite_stats(struct culex_store *base, const char *queue,
                                 culex_queue_stats *ret_stats, culex_error *error)
{
    culex_queue_stats stats = {0};
    culex_status status = culex__sqlite_verb_read(
        culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_REFUSED, stats_read, &stats, error);
    if (status == CULEX_OK)
        *ret_stats = stats;
    return status;
}

enum { TAGS_TEXT_MAX = CULEX_TAGS_MAX * (CULEX_TAG_MAX + 1) };

/* --- GET ------------------------------------------------------------------------------- */

/* At most `max` bytes: a longer text was written by another program. */
static char *text_copy(const char *text, size_t max)
{
    return strndup(text != NULL ? text : "", max);
}

static char *column_copy(sqlite3_stmt *statement, int column, size_t max)
{
    return text_copy((const char *)sqlite3_column_text(statement, column), max);
}

/* Always a block, so that NULL means out of memory. */
static bool bytes_copy(culex_bytes *ret_bytes, const void *bytes, size_t len)
{
    uint8_t *copy = malloc(len + 1);
    if (copy != NULL && len > 0)
        memcpy(copy, bytes, len);
    ret_bytes->data = copy;
    ret_bytes->len = copy != NULL ? len : 0;
    return copy != NULL;
}

static void info_fill(culex_run_info *info, const struct culex_sqlite *store,
                      const struct culex_sqlite_run *run, sqlite3_stmt *statement)
{
    info->id = run->id;
    info->state = culex__sqlite_run_state(store, run);
    info->priority = run->priority;
    info->attempt = run->attempt;
    info->failures = run->counters.failures;
    info->crashes = run->counters.crashes;
    info->losses = run->counters.losses;
    info->attempts_max = run->counters.attempts_max;
    /* The place in the order of one without a date means nothing outside. */
    info->at_ms = info->state == CULEX_RUN_WAITING && !run->is_delayed ? 0 : run->at_ms;
    info->expires_at_ms = run->expires_at_ms;
    info->cancel_requested = run->is_cancel_requested;
    info->created_at_ms = sqlite3_column_int64(statement, CULEX__SQLITE_COLUMN_created_at_ms);
    info->fingerprint = (uint64_t)sqlite3_column_int64(statement, CULEX__SQLITE_COLUMN_fingerprint);
    info->timeout_ms = run->timeout_ms;
    info->retry_for_ms = run->counters.retry_for_ms;
    info->keep_success_ms = run->keep_success_ms;
    info->keep_failure_ms = run->keep_failure_ms;
    info->unique_while = (unsigned)run->unique_while;
    info->unique_until_ms = run->unique_until_ms;
}

static bool info_copy(culex_run_info *info, sqlite3_stmt *statement, const char *queue,
                      const void *payload, size_t payload_len)
{
    info->job = column_copy(statement, CULEX__SQLITE_COLUMN_job, CULEX_JOB_NAME_MAX);
    info->queue = text_copy(queue, CULEX_QUEUE_NAME_MAX);
    info->tags = column_copy(statement, CULEX__SQLITE_COLUMN_tags, TAGS_TEXT_MAX);
    info->error_text =
        column_copy(statement, CULEX__SQLITE_COLUMN_error_text, CULEX_ERROR_TEXT_MAX);
    const char *words;
    const char *progress =
        (const char *)sqlite3_column_text(statement, CULEX__SQLITE_COLUMN_progress);
    culex__progress_split(culex__progress_is_valid(progress) ? progress : NULL, &info->progress,
                          &words);
    info->progress_text = text_copy(words, CULEX_PROGRESS_MAX);
    info->unique_key =
        column_copy(statement, CULEX__SQLITE_COLUMN_unique_text, CULEX_RECORD_BYTES_MAX);
    info->limits = column_copy(statement, CULEX__SQLITE_COLUMN_limits_text, CULEX_RECORD_BYTES_MAX);
    const void *result = sqlite3_column_blob(statement, CULEX__SQLITE_COLUMN_result);
    size_t result_len = (size_t)sqlite3_column_bytes(statement, CULEX__SQLITE_COLUMN_result);
    bool has_bytes = bytes_copy(&info->payload, payload, payload_len);
    return bytes_copy(&info->result, result, result_len) && has_bytes && info->job != NULL &&
           info->queue != NULL && info->tags != NULL && info->error_text != NULL &&
           info->progress_text != NULL && info->unique_key != NULL && info->limits != NULL;
}

static culex_status info_make(struct culex_sqlite *store, sqlite3_stmt *statement,
                              const struct culex_sqlite_queue *queue, culex_run_info **ret_run,
                              culex_error *error)
{
    struct culex_sqlite_run run;
    struct culex_sqlite_payload payload;
    struct culex_sqlite_stand stand;
    bool is_body;
    culex_status status = CULEX_OK;
    if (!culex__sqlite_body_read(queue, statement, &run, &is_body))
        return culex__sqlite_bad_run(store, error);
    if (is_body)
        status = culex__sqlite_stand_find(store, run.seq, &stand, error);
    if (status == CULEX_OK && is_body)
        culex__sqlite_body_stands(&run, &stand);
    if (status == CULEX_OK)
        status = culex__sqlite_payload_read(store, statement, &run, &payload, error);
    int64_t batches = 0;
    if (status == CULEX_OK && queue->batches != 0)
        status = culex__sqlite_first_int(store, SQL_BIND(store, MEMBER_COUNT, SQL_INT(run.seq)), 0,
                                         &batches, error);
    if (status != CULEX_OK)
        return status;
    culex_run_info *info = calloc(1, sizeof *info);
    bool is_copied = false;
    if (info != NULL) {
        /* A damaged payload is shown as far as it is there. */
        info_fill(info, store, &run, statement);
        info->is_member = batches > 0;
        is_copied = info_copy(info, statement, queue->name, payload.bytes,
                              payload.is_whole ? (size_t)run.payload_len : 0);
    }
    culex__sqlite_payload_end(&payload);
    if (!is_copied) {
        culex__run_info_free(info);
        return culex__sqlite_no_memory(error);
    }
    *ret_run = info;
    return CULEX_OK;
}

struct get_request {
    culex_uuid id;
    culex_run_info *info;
};

static culex_status get(struct culex_sqlite *store, struct culex_sqlite_queue *queue, void *user,
                        culex_error *error)
{
    struct get_request *request = user;
    culex_status status;
    int64_t seq = culex__sqlite_queue_seq(queue, request->id);
    sqlite3_stmt *statement = SQL_BIND(store, RUN_WHOLE, SQL_INT(seq), SQL_ID(&request->id));
    int has = culex__sqlite_next(store, statement, error);
    if (has == 0) {
        culex__sqlite_end(statement);
        statement = SQL_BIND(store, BODY_WHOLE, SQL_INT(seq));
        has = culex__sqlite_next(store, statement, error);
    }
    if (has > 0 && !culex__sqlite_body_is(queue, statement, request->id))
        has = 0;
    if (has == 0)
        status = culex__refuse_run(queue->name, error);
    else
        status =
            has < 0 ? (culex_status)has : info_make(store, statement, queue, &request->info, error);
    culex__sqlite_end(statement);
    return status;
}

culex_status culex__sqlite_get(struct culex_store *base, const char *queue, culex_uuid id,
                               culex_run_info **ret_run, culex_error *error)
{
    struct get_request request = {id, NULL};
    culex_status status = culex__sqlite_verb_read(culex__sqlite_of(base), queue,
                                                  CULEX__SQLITE_ABSENT_EMPTY, get, &request, error);
    if (status == CULEX_OK)
        *ret_run = request.info;
    else
        culex__run_info_free(request.info);
    return status;
}

/* --- LIST ------------------------------------------------------------------------------ */

/* Rows looked at in one call: a page may come back short, or empty, with a cursor to go on. */
enum { LIST_SCAN_MAX = 10000 };

static culex_status list_add(struct culex_sqlite *store, sqlite3_stmt *statement, const char *name,
                             const struct culex_sqlite_run *run, culex_run_info *info,
                             culex_error *error)
{
    memset(info, 0, sizeof *info);
    info_fill(info, store, run, statement);
    info->job = column_copy(statement, CULEX__SQLITE_COLUMN_job, CULEX_JOB_NAME_MAX);
    info->tags = column_copy(statement, CULEX__SQLITE_COLUMN_tags, TAGS_TEXT_MAX);
    info->queue = text_copy(name, CULEX_QUEUE_NAME_MAX);
    info->error_text = text_copy("", 0);
    info->progress_text = text_copy("", 0);
    info->unique_key = text_copy("", 0);
    info->limits = text_copy("", 0);
    info->progress = -1;
    bool is_whole = info->job != NULL && info->tags != NULL && info->queue != NULL &&
                    info->error_text != NULL && info->progress_text != NULL &&
                    info->unique_key != NULL && info->limits != NULL;
    return is_whole ? CULEX_OK : culex__sqlite_no_memory(error);
}

struct list_request {
    const culex_list_filter *filter;
    culex_list_cursor cursor; /* where the page begins */
    size_t limit;
    struct culex_list_reply *reply;
};

/* What the filter wants of a row as it stands. A "WHERE" would hide from the scan at which rows it
 * has looked, which is its bound and where it goes on. */
static bool row_is_taken(const culex_list_filter *filter, sqlite3_stmt *statement)
{
    return culex__filter_takes(
        filter, (const char *)sqlite3_column_text(statement, CULEX__SQLITE_COLUMN_job),
        (const char *)sqlite3_column_text(statement, CULEX__SQLITE_COLUMN_tags),
        (const char *)sqlite3_column_text(statement, CULEX__SQLITE_COLUMN_error_text),
        sqlite3_column_int64(statement, CULEX__SQLITE_COLUMN_created_at_ms));
}

/* The lane whose runs the scan is at. */
struct list_lane {
    int64_t lane;
    int64_t taken; /* the last key that was taken off it: -1 while nobody has asked for it */
};

static culex_status lane_taken(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               struct list_lane *at, culex_error *error)
{
    return at->taken >= 0 ? CULEX_OK
                          : culex__sqlite_lane_taken(store, queue, at->lane, &at->taken, error);
}

/* Most ordinary runs wait behind what has been taken. */
static culex_status body_place(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               struct list_lane *at, struct culex_sqlite_run *run,
                               culex_error *error)
{
    struct culex_sqlite_stand stand;
    culex_status status = lane_taken(store, queue, at, error);
    if (status != CULEX_OK || run->seq > at->taken)
        return status;
    status = culex__sqlite_stand_find(store, run->seq, &stand, error);
    if (status == CULEX_OK)
        culex__sqlite_body_stands(run, &stand);
    return status;
}

/* One bad row must not hide the others from an operator; GET tells about it. */
static culex_status list_row(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                             const struct list_request *request, struct list_lane *at,
                             sqlite3_stmt *statement, culex_error *error)
{
    struct culex_sqlite_run run;
    struct culex_list_reply *reply = request->reply;
    bool is_body;
    if (!row_is_taken(request->filter, statement) ||
        !culex__sqlite_body_read(queue, statement, &run, &is_body))
        return CULEX_OK;
    culex_status status = is_body ? body_place(store, queue, at, &run, error) : CULEX_OK;
    if (status != CULEX_OK ||
        !culex__filter_has_state(request->filter, culex__sqlite_run_state(store, &run)))
        return status;
    return list_add(store, statement, queue->name, &run, &reply->runs[reply->count++], error);
}

/* Where the bodies that the filter may take begin in the lane, behind `after`; at `last` when there
 * are none: what is kept of ended runs, which may be very many, is not walked for those that wait.
 * None has an error. */
static culex_status bodies_begin(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                 const culex_list_filter *filter, struct list_lane *at,
                                 int64_t last, int64_t after, int64_t *ret_after,
                                 culex_error *error)
{
    const unsigned bodies = CULEX_LIST_STATE(CULEX_RUN_WAITING) |
                            CULEX_LIST_STATE(CULEX_RUN_ACTIVE) | CULEX_LIST_STATE(CULEX_RUN_DONE);
    bool is_none =
        filter->error_part != NULL || (filter->states != 0 && (filter->states & bodies) == 0);
    *ret_after = is_none ? last : after;
    if (is_none || (filter->states & bodies) != CULEX_LIST_STATE(CULEX_RUN_WAITING))
        return CULEX_OK;
    culex_status status = lane_taken(store, queue, at, error);
    if (status == CULEX_OK && at->taken > after)
        *ret_after = at->taken;
    return status;
}

/* Up to the end of one lane, or as far as the page goes. *after: the last key that was looked at.
 */
static culex_status lane_scan(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                              const struct list_request *request, int64_t *after, int *scanned,
                              culex_error *error)
{
    struct culex_list_reply *reply = request->reply;
    const int64_t mask = (INT64_C(1) << CULEX__SQLITE_LANE_SHIFT) - 1;
    struct list_lane at = {(*after + 1) >> CULEX__SQLITE_LANE_SHIFT & CULEX_RUN_LANE_MAX, -1};
    int64_t last = culex__sqlite_queue_last(queue), bodies_after;
    last = ((*after + 1) | mask) < last ? (*after + 1) | mask : last;
    culex_status status =
        bodies_begin(store, queue, request->filter, &at, last, *after, &bodies_after, error);
    if (status != CULEX_OK)
        return status;
    sqlite3_stmt *statement =
        SQL_BIND(store, LIST, SQL_INT(*after), SQL_INT(last), SQL_INT(LIST_SCAN_MAX - *scanned),
                 SQL_INT(bodies_after), SQL_INT(request->filter->error_part != NULL));
    int has = 0;
    while (status == CULEX_OK && reply->count < request->limit &&
           (has = culex__sqlite_next(store, statement, error)) > 0) {
        *after = sqlite3_column_int64(statement, CULEX__SQLITE_COLUMN_seq);
        ++*scanned;
        status = list_row(store, queue, request, &at, statement, error);
    }
    culex__sqlite_end(statement);
    if (has == 0 && *scanned < LIST_SCAN_MAX && reply->count < request->limit)
        *after = last;
    return has < 0 ? (culex_status)has : status;
}

static culex_status list_scan(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              void *user, culex_error *error)
{
    const struct list_request *request = user;
    struct culex_list_reply *reply = request->reply;
    int64_t first = culex__sqlite_queue_first(queue), last = culex__sqlite_queue_last(queue);
    uint64_t most = (uint64_t)(last - first);
    int64_t after = first + (int64_t)(request->cursor.place < most ? request->cursor.place : most);
    culex_status status = CULEX_OK;
    int scanned = 0;
    while (status == CULEX_OK && after < last && reply->count < request->limit &&
           scanned < LIST_SCAN_MAX)
        status = lane_scan(store, queue, request, &after, &scanned, error);
    reply->cursor.place = after == last ? 0 : (uint64_t)(after - first);
    return status;
}

/* Where the index of ended runs goes on, backwards: the instant is the cursor's place, and the key
 * stands in the bytes of its run. */
static void newest_begin(const culex_list_cursor *cursor, int64_t *at_ms, int64_t *seq)
{
    *at_ms = *seq = INT64_MAX;
    if (cursor->place != 0) {
        *at_ms = (int64_t)cursor->place;
        memcpy(seq, cursor->run.b, sizeof *seq);
    }
}

/* Those that end have a row in table run, or get one: none of them is a body. An instant that no
 * run can have ends it, for all that follow are damaged. */
static culex_status newest_scan(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                void *user, culex_error *error)
{
    const struct list_request *request = user;
    struct culex_list_reply *reply = request->reply;
    const char *state = culex__sqlite_state_text(culex__filter_state(request->filter));
    struct list_lane lane = {0, -1};
    int64_t at_ms, seq;
    newest_begin(&request->cursor, &at_ms, &seq);
    sqlite3_stmt *statement = SQL_BIND(store, LIST_NEWEST, SQL_INT(queue->key), SQL_TEXT(state),
                                       SQL_INT(at_ms), SQL_INT(seq), SQL_INT(LIST_SCAN_MAX));
    culex_status status = CULEX_OK;
    int has = 1, scanned = 0;
    while (status == CULEX_OK && reply->count < request->limit &&
           (has = culex__sqlite_next(store, statement, error)) > 0) {
        at_ms = sqlite3_column_int64(statement, CULEX__SQLITE_COLUMN_at_ms);
        seq = sqlite3_column_int64(statement, CULEX__SQLITE_COLUMN_seq);
        scanned++;
        status = list_row(store, queue, request, &lane, statement, error);
    }
    culex__sqlite_end(statement);
    bool is_over = (has == 0 && scanned < LIST_SCAN_MAX) || at_ms <= 0;
    reply->cursor.place = is_over ? 0 : (uint64_t)at_ms;
    memcpy(reply->cursor.run.b, &seq, sizeof seq);
    return has < 0 ? (culex_status)has : status;
}

culex_status culex__sqlite_list(struct culex_store *base, const char *queue,
                                const culex_list_filter *filter, culex_list_cursor cursor,
                                size_t limit, struct culex_list_reply *ret_reply,
                                culex_error *error)
{
    assert(culex__argument_list(queue, filter, cursor, limit, NULL) == CULEX_OK);
    struct culex_list_reply reply = {0};
    struct list_request request = {filter, cursor, limit, &reply};
    reply.runs = calloc(limit, sizeof *reply.runs);
    if (reply.runs == NULL)
        return culex__sqlite_no_memory(error);
    culex_status status =
        culex__sqlite_verb_read(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_REFUSED,
                                filter->newest_first ? newest_scan : list_scan, &request, error);
    if (status == CULEX_OK)
        *ret_reply = reply;
    else
        culex__sqlite_list_release(base, &reply);
    return status;
}

void culex__sqlite_list_release(struct culex_store *base, struct culex_list_reply *reply)
{
    (void)base;
    for (size_t i = 0; i < reply->count; i++)
        culex__run_info_release(&reply->runs[i]);
    free(reply->runs);
    memset(reply, 0, sizeof *reply);
}

/* --- QUEUES ---------------------------------------------------------------------------- */

struct names {
    char *text; /* NUL-ended each */
    size_t len, size, count;
};

static bool names_add(struct names *names, const char *name)
{
    size_t len = strlen(name) + 1;
    if (names->len + len > names->size) {
        size_t size = 2 * (names->size + len);
        char *text = realloc(names->text, size);
        if (text == NULL)
            return false;
        names->text = text;
        names->size = size;
    }
    memcpy(names->text + names->len, name, len);
    names->len += len;
    names->count++;
    return true;
}

static char **names_pack(const struct names *names)
{
    size_t head = (names->count + 1) * sizeof(char *);
    char **packed = malloc(head + names->len);
    if (packed == NULL)
        return NULL;
    char *text = (char *)packed + head;
    if (names->len > 0)
        memcpy(text, names->text, names->len);
    for (size_t i = 0; i < names->count; i++) {
        packed[i] = text;
        text += strlen(text) + 1;
    }
    packed[names->count] = NULL;
    return packed;
}

static culex_status names_read(struct culex_sqlite *store, struct names *names, culex_error *error)
{
    sqlite3_stmt *statement = culex__sqlite_bind(store, CULEX__SQLITE_QUEUE_NAMES, NULL, 0);
    culex_status status = CULEX_OK;
    int has = 0;
    while (status == CULEX_OK && (has = culex__sqlite_next(store, statement, error)) > 0) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        if (name == NULL || !names_add(names, name))
            status = culex__sqlite_no_memory(error);
    }
    culex__sqlite_end(statement);
    return has < 0 ? (culex_status)has : status;
}

culex_status culex__sqlite_queues(struct culex_store *base, char ***ret_names, culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    struct names names = {0};
    culex_status status = culex__sqlite_begin_read(store, error);
    if (status != CULEX_OK)
        return status;
    status = names_read(store, &names, error);
    status = culex__sqlite_end_transaction(store, status, error);
    char **packed = status == CULEX_OK ? names_pack(&names) : NULL;
    free(names.text);
    if (status == CULEX_OK && packed == NULL)
        return culex__sqlite_no_memory(error);
    if (status == CULEX_OK)
        *ret_names = packed;
    return status;
}

culex_status culex__sqlite_now(struct culex_store *base, int64_t *ret_now_ms, culex_error *error)
{
    (void)error;
    struct culex_sqlite *store = culex__sqlite_of(base);
    culex__sqlite_clock_start(store);
    *ret_now_ms = store->now_ms;
    return CULEX_OK;
}
