/* store/redis/info.c - reading the store: GET, RUN_LOG, LIST, STATS, QUEUES. */
#include "store/redis/redis.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/record.h"
#include "store/refusal.h"
#include "base/buf.h"
#include "base/error.h"
#include "core/queue_name.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "core/progress.h"
#include "core/run_log.h"
#include "store/redis/scripts.h"
#include "store/argument.h"
#include "store/list_filter.h"

static void numbers_fill(culex_run_info *info, const struct culex__redis_record *record)
{
    info->state = record->state;
    info->priority = record->priority;
    info->attempt = record->facts.attempt;
    info->failures = record->facts.counters.failures;
    info->crashes = record->facts.counters.crashes;
    info->losses = record->facts.counters.losses;
    info->attempts_max = record->facts.counters.attempts_max;
    info->created_at_ms = record->facts.created_at_ms;
    info->at_ms = record->at_ms;
    info->expires_at_ms = record->facts.expires_at_ms;
    info->fingerprint = record->facts.fingerprint;
    info->cancel_requested = record->is_cancel_requested;
    info->timeout_ms = record->facts.timeout_ms;
    info->retry_for_ms = record->facts.counters.retry_for_ms;
    info->keep_success_ms = record->keep_success_ms;
    info->keep_failure_ms = record->keep_failure_ms;
    info->unique_while = record->unique_while;
    info->unique_until_ms = record->unique_until_ms;
}

static culex_status no_memory(culex_error *error)
{
    return culex__fail(error, CULEX_ENOMEM, "out of memory");
}

/* --- GET ------------------------------------------------------------------------------ */

static char *text_copy(const char *text, size_t len)
{
    char *copy = malloc(len + 1);
    if (copy == NULL)
        return NULL;
    if (len > 0)
        memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

static void bytes_copy(const char *text, size_t len, culex_bytes *ret_bytes)
{
    ret_bytes->data = (uint8_t *)text_copy(text, len);
    ret_bytes->len = ret_bytes->data != NULL ? len : 0;
}

/* Text that the store would not have taken from us is not shown. */
static void progress_fill(culex_run_info *info, const char *text, size_t len)
{
    char kept[CULEX_PROGRESS_MAX + 1];
    const char *words;
    if (len > CULEX_PROGRESS_MAX || !culex__utf8_is_valid(text, len))
        len = 0;
    memcpy(kept, text, len);
    kept[len] = '\0';
    culex__progress_split(kept, &info->progress, &words);
    info->progress_text = text_copy(words, strlen(words));
}

/* Texts of a GET: record, payload, error, result, progress, whether it is a member. */
enum { GET_TEXTS = 6 };

static bool get_texts(const redisReply *reply, const char **texts, size_t *lens)
{
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != GET_TEXTS)
        return false;
    for (size_t i = 0; i < GET_TEXTS; i++) {
        if (!culex__redis_reply_text(reply, i, &texts[i], &lens[i]))
            return false;
    }
    return true;
}

culex_status culex__redis_get_read(const redisReply *reply, const char *queue, culex_uuid id,
                                   culex_run_info **ret_run, culex_error *error)
{
    const char *texts[GET_TEXTS];
    size_t lens[GET_TEXTS];
    struct culex__redis_record record;
    if (culex__redis_is_empty(reply))
        return culex__refuse_run(queue, error);
    if (!get_texts(reply, texts, lens) || !culex__redis_record_parse(texts[0], lens[0], &record))
        return culex__fail(error, CULEX_ECORRUPT, "the run's record is damaged");
    culex_run_info *info = calloc(1, sizeof *info);
    if (info == NULL)
        return no_memory(error);
    numbers_fill(info, &record);
    info->id = id;
    info->job = text_copy(record.job.text, record.job.len);
    info->queue = text_copy(queue, strlen(queue));
    info->tags = text_copy(record.tags.text, record.tags.len);
    bytes_copy(texts[1], lens[1], &info->payload);
    info->error_text = text_copy(texts[2], lens[2]);
    bytes_copy(texts[3], lens[3], &info->result);
    progress_fill(info, texts[4], lens[4]);
    info->unique_key = text_copy(record.unique_key.text, record.unique_key.len);
    info->limits = text_copy(record.limits.text, record.limits.len);
    info->is_member = lens[5] > 0;
    if (info->job == NULL || info->queue == NULL || info->tags == NULL ||
        info->error_text == NULL || info->progress_text == NULL || info->payload.data == NULL ||
        info->result.data == NULL || info->unique_key == NULL || info->limits == NULL) {
        culex__run_info_free(info);
        return no_memory(error);
    }
    *ret_run = info;
    return CULEX_OK;
}

/* Chunks, one after the other. */
static culex_status chunks_join(struct culex__redis *redis, const redisReply *reply,
                                culex_buf *chunks, culex_error *error)
{
    const char *chunk;
    size_t len;
    for (size_t i = 1; i < reply->elements; i++) {
        if (!culex__redis_reply_text(reply, i, &chunk, &len))
            return culex__redis_bad_reply(redis, "RUN_LOG", error);
        if (culex__buf_append(chunks, chunk, len) != CULEX_OK)
            return no_memory(error);
    }
    return CULEX_OK;
}

/* The last lines of the chunks, so many as the run keeps. */
static culex_status lines_read(struct culex__redis *redis, const redisReply *reply,
                               culex_buf *lines, culex_error *error)
{
    int64_t shown;
    culex_buf chunks;
    if (!culex__redis_reply_int(reply, 0, &shown) || shown < 0 || shown > CULEX_RUN_LINES_MAX)
        return culex__redis_bad_reply(redis, "RUN_LOG", error);
    culex_buf_init(&chunks, 0);
    culex_status status = chunks_join(redis, reply, &chunks, error);
    if (status == CULEX_OK) {
        size_t excess = culex__run_log_excess(chunks.data, chunks.len, (uint32_t)shown);
        if (chunks.len > excess &&
            culex__buf_append(lines, chunks.data + excess, chunks.len - excess) != CULEX_OK)
            status = no_memory(error);
    }
    culex_buf_release(&chunks);
    return status;
}

culex_status culex__redis_run_log(struct culex_store *base, const char *queue, culex_uuid id,
                                  culex_buf *ret_lines, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_run_log;
    redisReply *reply = NULL;
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_id(redis, id);
    status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    if (culex__redis_is_empty(reply))
        status = culex__refuse_run(queue, error);
    else
        status = lines_read(redis, reply, ret_lines, error);
    freeReplyObject(reply);
    return status;
}

culex_status culex__redis_get(struct culex_store *base, const char *queue, culex_uuid id,
                              culex_run_info **ret_run, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    redisReply *reply = NULL;
    culex_status status = culex__redis_begin(redis, &culex__redis_script_get, queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_id(redis, id);
    status = culex__redis_finish(redis, &culex__redis_script_get, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = culex__redis_get_read(reply, queue, id, ret_run, error);
    freeReplyObject(reply);
    return status;
}

/* --- LIST ----------------------------------------------------------------------------- */

/* Copies `len` bytes to *at and moves it past them and their NUL. */
static char *block_take(char **at, const char *text, size_t len)
{
    char *copy = *at;
    if (len > 0)
        memcpy(copy, text, len);
    copy[len] = '\0';
    *at += len + 1;
    return copy;
}

/* One listed run; false when its record is damaged, and then it is left out: one bad record must
 * not hide the others from an operator. GET tells about it. */
static bool list_item_read(const redisReply *reply, size_t at, char *queue, culex_run_info *info,
                           char **block)
{
    static char nothing[] = "";
    struct culex__redis_record record;
    const char *id, *text;
    size_t id_len, len;
    if (!culex__redis_reply_text(reply, at, &id, &id_len) || id_len != sizeof info->id ||
        !culex__redis_reply_text(reply, at + 1, &text, &len) ||
        !culex__redis_record_parse(text, len, &record))
        return false;
    memset(info, 0, sizeof *info);
    numbers_fill(info, &record);
    memcpy(info->id.b, id, id_len);
    info->queue = queue;
    info->error_text = info->progress_text = info->unique_key = info->limits = nothing;
    info->progress = -1;
    info->job = block_take(block, record.job.text, record.job.len);
    info->tags = block_take(block, record.tags.text, record.tags.len);
    return true;
}

static size_t list_text_size(const redisReply *reply)
{
    size_t size = 0, len;
    const char *text;
    for (size_t i = 3; i < reply->elements; i += 2)
        size += culex__redis_reply_text(reply, i, &text, &len) ? len + 2 : 2;
    return size;
}

static bool list_cursor_read(const redisReply *reply, culex_list_cursor *ret_cursor)
{
    int64_t place;
    const char *run;
    size_t len;
    *ret_cursor = CULEX_LIST_START;
    if (!culex__redis_reply_int(reply, 0, &place) || place < 0 ||
        !culex__redis_reply_text(reply, 1, &run, &len) || len != sizeof ret_cursor->run)
        return false;
    ret_cursor->place = (uint64_t)place;
    memcpy(ret_cursor->run.b, run, len);
    return true;
}

culex_status culex__redis_list_read(const redisReply *reply, const char *queue, size_t limit,
                                    struct culex_list_reply *ret_reply, culex_error *error)
{
    culex_list_cursor next;
    if (culex__redis_is_empty(reply))
        return culex__refuse_queue(queue, error);
    if (!list_cursor_read(reply, &next) || reply->elements % 2 != 0 ||
        reply->elements / 2 - 1 > limit)
        return culex__fail(
            error, CULEX_ECORRUPT,
            "the answer to LIST has %zu items, not 2 of a cursor and 2 for each of at most "
            "%zu runs",
            reply->type == REDIS_REPLY_ARRAY ? reply->elements : 0, limit);
    size_t count = reply->elements / 2 - 1, runs_size = (count + 1) * sizeof(culex_run_info);
    char *storage = malloc(runs_size + strlen(queue) + 1 + list_text_size(reply));
    if (storage == NULL)
        return no_memory(error);
    culex_run_info *runs = (culex_run_info *)(void *)storage;
    char *block = storage + runs_size, *queue_copy = block_take(&block, queue, strlen(queue));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        kept += list_item_read(reply, 2 + i * 2, queue_copy, &runs[kept], &block);
    *ret_reply = (struct culex_list_reply){runs, kept, next, storage};
    return CULEX_OK;
}

/* Beyond all places that redis/list.lua gives, and exact in Lua. */
#define PLACE_MAX (INT64_C(1) << 52)

/* The letters of its states, '*' for all. */
static void states_add(struct culex__redis_request *request, const culex_list_filter *filter)
{
    char letters[CULEX_RUN_STATE_COUNT];
    size_t count = 0;
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++) {
        if ((filter->states & CULEX_LIST_STATE(state)) != 0)
            letters[count++] = culex__run_state_letter((culex_run_state)state);
    }
    culex__redis_request_add(request, count > 0 ? letters : "*", count > 0 ? count : 1);
}

static void text_add(struct culex__redis_request *request, const char *text)
{
    culex__redis_request_add(request, text != NULL ? text : "", text != NULL ? strlen(text) : 0);
}

/* ORDER FILTER: as redis/list.lua reads it. */
static void filter_add(struct culex__redis_request *request, const culex_list_filter *filter)
{
    text_add(request, filter->job);
    text_add(request, filter->tag);
    text_add(request, filter->error_part);
    culex__redis_request_int(request, culex__filter_since_ms(filter));
    culex__redis_request_int(request, culex__filter_before_ms(filter));
    culex__redis_request_int(request, filter->newest_first);
}

culex_status culex__redis_list(struct culex_store *base, const char *queue,
                               const culex_list_filter *filter, culex_list_cursor cursor,
                               size_t limit, struct culex_list_reply *ret_reply, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    bool is_any = culex__filter_state(filter) == CULEX_LIST_ANY;
    assert(culex__argument_list(queue, filter, cursor, limit, NULL) == CULEX_OK);
    if (!is_any && cursor.place > PLACE_MAX)
        cursor.place = PLACE_MAX;
    culex_status status = culex__redis_begin(redis, &culex__redis_script_list, queue, error);
    if (status != CULEX_OK)
        return status;
    redisReply *reply = NULL;
    states_add(&redis->request, filter);
    culex__redis_request_int(&redis->request, (int64_t)cursor.place);
    culex__redis_request_int(&redis->request, (int64_t)limit);
    culex__redis_id(redis, cursor.run);
    filter_add(&redis->request, filter);
    status = culex__redis_finish(redis, &culex__redis_script_list, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = culex__redis_list_read(reply, queue, is_any ? SIZE_MAX : limit, ret_reply, error);
    freeReplyObject(reply);
    return status;
}

void culex__redis_list_release(struct culex_store *base, struct culex_list_reply *reply)
{
    (void)base;
    free(reply->storage);
    memset(reply, 0, sizeof *reply);
}

/* --- STATS ---------------------------------------------------------------------------- */

/* ORDER STATS: as redis/stats.lua answers. */
static bool stats_fill(const redisReply *reply, culex_queue_stats *stats)
{
    uint64_t *const totals[] = {&stats->enqueued, &stats->done, &stats->failed,    &stats->crashed,
                                &stats->lost,     &stats->dead, &stats->cancelled, &stats->stale};
    size_t at = 0;
    int64_t value;
    if (!culex__redis_reply_int(reply, at++, &stats->now_ms))
        return false;
    for (size_t i = 0; i < CULEX_RUN_STATE_COUNT; i++) {
        if (!culex__redis_reply_int(reply, at++, &value) || value < 0)
            return false;
        stats->count[i] = (uint64_t)value;
    }
    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++) {
        if (!culex__redis_reply_int(reply, at++, &value) || value < 0)
            return false;
        *totals[i] = (uint64_t)value;
    }
    if (!culex__redis_reply_int(reply, at++, &value))
        return false;
    stats->paused = value != 0;
    if (!culex__redis_reply_int(reply, at++, &stats->paused_until_ms) || stats->paused_until_ms < 0)
        return false;
    if (!culex__redis_reply_int(reply, at++, &value) || value < 0)
        return false;
    stats->limit = (uint64_t)value;
    if (!culex__redis_reply_int(reply, at++, &value) || value < 0)
        return false;
    stats->dead_limit = (uint64_t)value;
    return reply->elements == at;
}

culex_status culex__redis_stats(struct culex_store *base, const char *queue,
                                culex_queue_stats *ret_stats, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    redisReply *reply = NULL;
    culex_queue_stats stats;
    culex_status status = culex__redis_begin(redis, &culex__redis_script_stats, queue, error);
    if (status == CULEX_OK)
        status = culex__redis_finish(redis, &culex__redis_script_stats, &reply, error);
    if (status != CULEX_OK)
        return status;
    memset(&stats, 0, sizeof stats);
    if (culex__redis_is_empty(reply))
        status = culex__refuse_queue(queue, error);
    else if (stats_fill(reply, &stats))
        *ret_stats = stats;
    else
        status = culex__redis_bad_reply(redis, "STATS", error);
    freeReplyObject(reply);
    return status;
}

/* --- QUEUES --------------------------------------------------------------------------- */

struct names {
    char **list; /* malloc'ed one by one while they come in */
    size_t count, cap;
};

static void names_release(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
}

static culex_status names_add(struct names *names, const char *text, size_t len, culex_error *error)
{
    if (names->count == names->cap) {
        size_t cap = names->cap == 0 ? 64 : names->cap * 2;
        char **list = realloc(names->list, cap * sizeof *list);
        if (list == NULL)
            return no_memory(error);
        names->list = list;
        names->cap = cap;
    }
    names->list[names->count] = text_copy(text, len);
    if (names->list[names->count] == NULL)
        return no_memory(error);
    names->count++;
    return CULEX_OK;
}

/* One page of SSCAN: the cursor to go on with, and names. */
static culex_status names_page(struct culex__redis *redis, struct names *names, char *cursor,
                               size_t cursor_size, culex_error *error)
{
    char key[CULEX__REDIS_PREFIX_MAX + 16];
    snprintf(key, sizeof key, "%s:queues", redis->prefix);
    const char *words[] = {"SSCAN", key, cursor, "COUNT", "500"}, *text;
    size_t len;
    redisReply *reply = NULL;
    culex_status status = culex__redis_conn_command(&redis->conn, words, 5,
                                                    culex__redis_deadline(redis), &reply, error);
    if (status != CULEX_OK)
        return status;
    if (!culex__redis_reply_text(reply, 0, &text, &len) || len >= cursor_size ||
        reply->elements != 2 || reply->element[1]->type != REDIS_REPLY_ARRAY) {
        freeReplyObject(reply);
        return culex__redis_bad_reply(redis, "SSCAN", error);
    }
    memcpy(cursor, text, len + 1);
    for (size_t i = 0; i < reply->element[1]->elements && status == CULEX_OK; i++) {
        /* A name that could not be a queue's was not put there by us. */
        if (culex__redis_reply_text(reply->element[1], i, &text, &len) && strlen(text) == len &&
            culex__queue_check(text, NULL) == CULEX_OK)
            status = names_add(names, text, len, error);
    }
    freeReplyObject(reply);
    return status;
}

static int name_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* SSCAN may report a name twice. */
static void names_sort(struct names *names)
{
    size_t kept = 0;
    if (names->count > 0)
        qsort(names->list, names->count, sizeof *names->list, name_compare);
    for (size_t i = 0; i < names->count; i++) {
        if (kept > 0 && strcmp(names->list[kept - 1], names->list[i]) == 0)
            free(names->list[i]);
        else
            names->list[kept++] = names->list[i];
    }
    names->count = kept;
}

static char **names_pack(const struct names *names)
{
    size_t size = (names->count + 1) * sizeof(char *);
    for (size_t i = 0; i < names->count; i++)
        size += strlen(names->list[i]) + 1;
    char **packed = malloc(size);
    if (packed == NULL)
        return NULL;
    char *at = (char *)(packed + names->count + 1);
    for (size_t i = 0; i < names->count; i++)
        packed[i] = block_take(&at, names->list[i], strlen(names->list[i]));
    packed[names->count] = NULL;
    return packed;
}

culex_status culex__redis_queues(struct culex_store *base, char ***ret_names, culex_error *error)
{
    enum { PAGES_MAX = 100000 }; /* a server that never ends a scan must not hold us */
    struct culex__redis *redis = culex__redis_of(base);
    struct names names = {NULL, 0, 0};
    char cursor[24] = "0";
    int pages = 0;
    culex_status status = culex__redis_conn_open(&redis->conn, culex__redis_deadline(redis), error);
    if (status != CULEX_OK)
        return status;
    do {
        status = names_page(redis, &names, cursor, sizeof cursor, error);
    } while (status == CULEX_OK && strcmp(cursor, "0") != 0 && ++pages < PAGES_MAX);
    if (status == CULEX_OK) {
        names_sort(&names);
        char **packed = names_pack(&names);
        if (packed == NULL)
            status = no_memory(error);
        else
            *ret_names = packed;
    }
    names_release(&names);
    return status;
}
