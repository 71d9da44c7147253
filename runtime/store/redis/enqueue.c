/* store/redis/enqueue.c - ENQUEUE, ENQUEUE_EACH, TICK and SCHEDULE_RUN. */
#include "store/redis/redis.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/redis/record.h"
#include "base/error.h"
#include "base/limits.h"
#include "core/number.h"
#include "core/record_text.h"
#include "core/run_id.h"
#include "store/redis/scripts.h"
#include "store/argument.h"
#include "store/digest.h"
#include "store/refusal.h"

static const char *text_or_empty(const char *text)
{
    return text != NULL ? text : "";
}

/* What an ordinary run's body and a record have in common behind the time of the enqueue, which
 * only the server knows. */
struct head_text {
    char numbers[96], rest[64];
    struct culex__redis_piece pieces[4];
};

enum { HEAD_PIECES = 4 };

/* Of what is added to an instant. */
#define SPAN_MAX (CULEX__REDIS_DELAY_MAX / 2)

static int64_t at_most(int64_t value, int64_t max)
{
    return value < max ? value : max;
}

static void head_make(struct head_text *head, const struct culex_new_run *run)
{
    const char *tags = text_or_empty(run->tags);
    int len = snprintf(head->numbers, sizeof head->numbers, "%" PRId64 "|%" PRId64 "|%" PRIu32 "|",
                       culex__redis_delay(run->keep_success_ms),
                       culex__redis_delay(run->timeout_ms), run->attempts_max);
    int rest_len = snprintf(head->rest, sizeof head->rest, "|%" PRId64 "|%016" PRIx64 "|",
                            culex__redis_delay(run->keep_failure_ms), run->fingerprint);
    assert(culex__record_text_is_valid(tags, strlen(tags))); /* or the next field would shift */
    head->pieces[0] = (struct culex__redis_piece){head->numbers, (size_t)len};
    head->pieces[1] = (struct culex__redis_piece){run->job, strlen(run->job)};
    head->pieces[2] = (struct culex__redis_piece){head->rest, (size_t)rest_len};
    head->pieces[3] = (struct culex__redis_piece){tags, strlen(tags)};
}

/* A limit, with its numbers in front of it. */
enum {
    LIMIT_SIZE = CULEX_LIMIT_NAME_MAX + CULEX_LIMIT_KEY_MAX + 64,
    LIMITS_SIZE = CULEX_RUN_LIMITS_MAX * LIMIT_SIZE
};

/* ORDER LIMITS: the gates of the run (redis/lib_slots.lua), as its record has them; or as they are
 * told, with what was declared before each. Returns the length. */
static size_t limits_text(char text[LIMITS_SIZE], const struct culex_new_run *run, bool is_told)
{
    size_t len = 0;
    text[0] = '\0';
    for (size_t i = 0; i < run->limit_count; i++) {
        const struct culex_run_limit *limit = &run->limits[i];
        char *at = text + len;
        if (is_told)
            at += sprintf(at, "%c|%" PRIu32 "|%" PRId64 "|%" PRIu32 "|", "CRFN"[limit->kind],
                          limit -> count, limit -> per_ms, limit -> burst);
        at += sprintf(at, "%s=%s;", limit->name, text_or_empty(limit->key));
        len = (size_t)(at - text);
        assert(len < (i + 1) * LIMIT_SIZE);
    }
    return len > 0 && !is_told ? len - 1 : len;
}

/* The record from keep_success_ms on. */
static void tail_add(struct culex__redis_request *request, const struct culex_new_run *run)
{
    struct head_text head;
    const char *key = text_or_empty(run->unique_key);
    bool is_unique = key[0] != '\0';
    char rest[64];
    /* Of a window its length: the script knows its end. */
    int rest_len = snprintf(rest, sizeof rest, "|%d|%" PRId64 "|%u|%" PRId64 "|", run->priority,
                            at_most(culex__redis_delay(run->retry_for_ms), SPAN_MAX),
                            is_unique ? run->unique_while : 0, is_unique ? run->unique_for_ms : 0);
    head_make(&head, run);
    assert(culex__record_text_is_valid(key, strlen(key)));
    char limits[LIMITS_SIZE];
    size_t limits_len = limits_text(limits, run, false);
    struct culex__redis_piece pieces[HEAD_PIECES + 4] = {
        head.pieces[0], head.pieces[1],     head.pieces[2],           head.pieces[3],
        {"|", 1},       {key, strlen(key)}, {rest, (size_t)rest_len}, {limits, limits_len}};
    culex__redis_request_join(request, pieces, HEAD_PIECES + 4);
}

static void times_add(struct culex__redis_request *request, const struct culex_new_run *run)
{
    /* Any instant before the first is over, and 0 means none. */
    int64_t at_ms = run->at_ms < 0 ? 1 : at_most(run->at_ms, CULEX__REDIS_INSTANT_MAX);
    int64_t expires_ms = at_most(culex__redis_delay(run->expires_ms), SPAN_MAX);
    char times[96] = "";
    if (run->delay_ms > 0 || at_ms != 0 || expires_ms > 0 || run->priority != 0)
        snprintf(times, sizeof times, "%" PRId64 "|%" PRId64 "|%" PRId64 "|%d",
                 culex__redis_delay(run->delay_ms), at_ms, expires_ms, run->priority);
    culex__redis_request_text(request, times);
}

/* What an idempotency key is remembered by, "" for none. */
static void idempotency_add(struct culex__redis_request *request, const struct culex_new_run *run)
{
    const char *key = text_or_empty(run->idempotency_key);
    char head[64];
    if (key[0] == '\0') {
        culex__redis_request_add(request, NULL, 0);
        return;
    }
    int len = snprintf(head, sizeof head, "%" PRId64 "|%016" PRIx64 "|",
                       culex__redis_delay(run->window_ms), run->content);
    struct culex__redis_piece pieces[] = {{head, (size_t)len}, {key, strlen(key)}};
    culex__redis_request_join(request, pieces, 2);
}

/* How a unique key is kept, "" for none. */
static void unique_add(struct culex__redis_request *request, const struct culex_new_run *run)
{
    char text[32 + CULEX_STORE_KEY_MAX + 1] = "";
    if (text_or_empty(run->unique_key)[0] != '\0')
        snprintf(text, sizeof text, "%u|%" PRId64 "|%d|%s", run->unique_while, run->unique_for_ms,
                 run->unique_replaces  ? 1
                 : run->unique_refuses ? 2
                                       : 0,
                 run->unique_key);
    culex__redis_request_text(request, text);
}

static void limits_add(struct culex__redis_request *request, const struct culex_new_run *run)
{
    char limits[LIMITS_SIZE];
    culex__redis_request_add(request, limits, limits_text(limits, run, true));
}

void culex__redis_run_add(struct culex__redis_request *request, const struct culex_new_run *run)
{
    assert(run->priority >= 0 && run->priority <= CULEX_PRIORITY_MAX && run->attempts_max > 0);
    tail_add(request, run);
    times_add(request, run);
    unique_add(request, run);
    idempotency_add(request, run);
    culex__redis_request_add(request, run->payload, run->payload_len);
    limits_add(request, run);
}

/* Nothing is wanted beyond what its kind says: it goes to the line (redis/lib_line.lua). */
static bool is_ordinary(const struct culex_new_run *run)
{
    return run->delay_ms <= 0 && run->at_ms == 0 && run->expires_ms <= 0 &&
           run->retry_for_ms <= 0 && run->priority == 0 && run->limit_count == 0 &&
           !run->is_bound && text_or_empty(run->unique_key)[0] == '\0' &&
           text_or_empty(run->idempotency_key)[0] == '\0';
}

static const struct culex__redis_script *script_of(const struct culex_new_run *runs, bool is_plain)
{
    if (runs[0].is_bound)
        return &culex__redis_script_enqueue_bound;
    if (runs[0].has_batch)
        return &culex__redis_script_enqueue_batch;
    return is_plain ? &culex__redis_script_enqueue_plain : &culex__redis_script_enqueue;
}

static bool are_ordinary(const struct culex_new_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_ordinary(&runs[i]))
            return false;
    }
    return true;
}

/* ORDER BODY: as redis/lib_line.lua takes it. */
static void body_add(struct culex__redis *redis, const struct culex_new_run *run)
{
    struct head_text head;
    assert(run->attempts_max > 0);
    head_make(&head, run);
    struct culex__redis_piece pieces[HEAD_PIECES + 2] = {
        head.pieces[0], head.pieces[1], head.pieces[2],
        head.pieces[3], {"\n", 1},      {run->payload, run->payload_len}};
    culex__redis_request_join(&redis->request, pieces, HEAD_PIECES + 2);
}

/* --- the answer ------------------------------------------------------------------------- */

/* ORDER ENQUEUE: as redis/enqueue.lua answers. */
enum { HEAD_ITEMS = 4 /* letters, number, ms, salt */ };

enum { NUMBER_BITS = 44 }; /* the lane stands above them */

/* The ids of `count` new runs, one after the other, from the number and lane of the first on. */
static bool ids_make(int64_t number, int64_t ms, int64_t salt, size_t count,
                     struct culex_run_id_parts *ret_parts)
{
    int64_t lane = number >> NUMBER_BITS;
    number &= (int64_t)CULEX_RUN_NUMBER_MAX;
    if (lane < 0 || lane > CULEX__REDIS_LANE_LINE || number < 1 ||
        number > (int64_t)(CULEX_RUN_NUMBER_MAX - count) || ms < 0 || ms >> 48 != 0 || salt < 0 ||
        salt > CULEX_RUN_SALT_MAX)
        return false;
    ret_parts->ms = ms;
    ret_parts->lane = (uint32_t)lane;
    ret_parts->number = (uint64_t)number;
    ret_parts->salt = (uint32_t)salt;
    return true;
}

static bool ids_read(const redisReply *reply, size_t count, struct culex_run_id_parts *ret_parts)
{
    int64_t number, ms, salt;
    return culex__redis_reply_int(reply, 1, &number) && culex__redis_reply_int(reply, 2, &ms) &&
           culex__redis_reply_int(reply, 3, &salt) && ids_make(number, ms, salt, count, ret_parts);
}

/* ORDER CALL_ENTRY: as redis/lib_memory.lua has it, from behind the call up to the salt. */
enum { CALL_LISTED, CALL_LANE, CALL_FIRST, CALL_MS, CALL_SALT, CALL_NUMBERS };

/* redis/lib_single.lua and redis/lib_lone.lua answer with what is remembered of their call. */
static bool single_read(const redisReply *reply, struct culex_enqueue_result *ret_result)
{
    const char *end = reply->str + reply->len, *bar = memchr(reply->str, '|', reply->len);
    struct culex_run_id_parts parts;
    int64_t values[CALL_NUMBERS];
    for (size_t i = 0; i < CALL_NUMBERS; i++) {
        const char *at = bar == NULL ? end : bar + 1;
        bar = memchr(at, '|', (size_t)(end - at));
        if (bar == NULL || !culex__int64_parse(at, (size_t)(bar - at), &values[i]))
            return false;
    }
    if (values[CALL_LANE] < 0 || values[CALL_LANE] > CULEX__REDIS_LANE_LINE ||
        values[CALL_FIRST] > (int64_t)CULEX_RUN_NUMBER_MAX ||
        !ids_make(values[CALL_LANE] << NUMBER_BITS | values[CALL_FIRST], values[CALL_MS],
                  values[CALL_SALT], 1, &parts))
        return false;
    *ret_result = (struct culex_enqueue_result){.outcome = CULEX_ENQUEUED_NEW,
                                                .id = culex__run_id_make(parts)};
    return true;
}

/* CULEX_OK unless the answer says that nothing was done. */
static culex_status call_refused(const redisReply *reply, const char *queue, culex_error *error)
{
    const char *word = "";
    size_t len;
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 1 ||
        !culex__redis_reply_text(reply, 0, &word, &len))
        return CULEX_OK;
    if (strcmp(word, "!") == 0)
        return culex__refuse_ticket(error);
    if (strcmp(word, "-") == 0)
        return culex__refuse_batch(queue, error);
    if (strcmp(word, ".") == 0)
        return culex__refuse_ended_batch(queue, error);
    return strcmp(word, "?") == 0 ? culex__refuse_ticket_time(error) : CULEX_OK;
}

static bool outcome_read(char letter, enum culex_enqueued *ret_outcome)
{
    static const char letters[] = "NDCFURH"; /* ORDER ENQUEUED */
    const char *at = letter == '\0' ? NULL : strchr(letters, letter);
    if (at == NULL)
        return false;
    *ret_outcome = (enum culex_enqueued)(at - letters);
    return true;
}

/* Only what is bound is held. */
static bool results_read(const redisReply *reply, bool is_bound, size_t count,
                         struct culex_enqueue_result *results)
{
    struct culex_run_id_parts parts = {.lane = 0};
    const char *letters, *id;
    size_t len, others = 0;
    if (reply->type == REDIS_REPLY_STRING)
        return count == 1 && single_read(reply, results);
    if (!culex__redis_reply_text(reply, 0, &letters, &len) || (len != count && len != 0) ||
        !ids_read(reply, count, &parts))
        return false;
    for (size_t i = 0; i < count; i++) {
        results[i] = (struct culex_enqueue_result){.outcome = CULEX_ENQUEUED_NEW};
        if (len > 0 && !outcome_read(letters[i], &results[i].outcome))
            return false;
        if (results[i].outcome == CULEX_ENQUEUED_HELD && !is_bound)
            return false;
        if (results[i].outcome == CULEX_ENQUEUED_NEW) {
            results[i].id = culex__run_id_make(parts);
            parts.number++;
        } else if (results[i].outcome != CULEX_ENQUEUED_FULL &&
                   results[i].outcome != CULEX_ENQUEUED_HELD) {
            size_t id_len;
            if (!culex__redis_reply_text(reply, HEAD_ITEMS + others++, &id, &id_len) ||
                id_len != sizeof results[i].id)
                return false;
            memcpy(results[i].id.b, id, id_len);
        }
    }
    return reply->elements == HEAD_ITEMS + others;
}

enum { CALL_LEN = 15 + 4 + 16, CALL_TEXT = 64 /* room for any three numbers */ };

/* What a producer's call is known by: its sequence and the digest of its runs. The sequence is an
 * ms and a count, so that a script reads the ms without arithmetic; and of decimal digits alone, as
 * its order is that of texts: a server compares them by its locale, which may put letters anywhere.
 */
static void call_print(char text[CALL_TEXT], const struct culex_ticket *ticket, uint64_t digest)
{
    uint64_t count = ticket->sequence & 0xfff;
    int len = snprintf(text, CALL_TEXT, "%015" PRId64 "%04" PRIu64 "%016" PRIx64,
                       culex__ticket_ms(*ticket), count, digest);
    assert(len == CALL_LEN);
    (void)len;
}

/* ORDER ENQUEUE_TICKET: as redis/lib_producers.lua reads it. */
static void ticket_add(struct culex__redis_request *request, const struct culex_ticket *ticket,
                       uint64_t digest)
{
    char producer[24] = "", call[CALL_TEXT] = "";
    if (ticket != NULL) {
        snprintf(producer, sizeof producer, "%016" PRIx64, ticket->producer);
        call_print(call, ticket, digest);
    }
    culex__redis_request_text(request, producer);
    culex__redis_request_text(request, call);
    culex__redis_request_int(request, ticket != NULL ? culex__ticket_ms(*ticket) : 0);
}

/* ORDER ENQUEUE_TICKETS: as redis/lib_callers.lua reads them. */
static void tickets_add(struct culex__redis_request *request, const struct culex_ticket *tickets,
                        const struct culex_new_run *runs, size_t count)
{
    enum { PRODUCER_LEN = 16 };
    char producers[CULEX_STORE_EACH_MAX * PRODUCER_LEN + 1];
    char calls[CULEX_STORE_EACH_MAX * CALL_LEN], call[CALL_TEXT];
    for (size_t i = 0; i < count; i++) {
        snprintf(producers + i * PRODUCER_LEN, PRODUCER_LEN + 1, "%016" PRIx64,
                 tickets[i].producer);
        call_print(call, &tickets[i], culex__runs_digest(&runs[i], 1));
        memcpy(calls + i * CALL_LEN, call, CALL_LEN);
    }
    culex__redis_request_add(request, producers, count * PRODUCER_LEN);
    culex__redis_request_add(request, calls, count * CALL_LEN);
    culex__redis_request_add(request, NULL, 0);
}

/* Announces the queue and begins the call of a script that takes runs: up to the ticket. */
static culex_status call_begin(struct culex__redis *redis, const struct culex__redis_script *script,
                               const char *queue, culex_error *error)
{
    culex_status status = culex__redis_register(redis, queue, false, error);
    if (status == CULEX_OK)
        status = culex__redis_begin(redis, script, queue, error);
    if (status == CULEX_OK)
        culex__redis_request_int(&redis->request, redis->call_queue->salt);
    return status;
}

/* From the runs on. */
static culex_status call_finish(struct culex__redis *redis,
                                const struct culex__redis_script *script, const char *queue,
                                bool is_plain, const struct culex_new_run *runs, size_t count,
                                struct culex_enqueue_result *results, culex_error *error)
{
    redisReply *reply = NULL;
    for (size_t i = 0; i < count; i++) {
        if (is_plain)
            body_add(redis, &runs[i]);
        else
            culex__redis_run_add(&redis->request, &runs[i]);
    }
    culex_status status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = call_refused(reply, queue, error);
    if (status == CULEX_OK && !results_read(reply, runs[0].is_bound, count, results))
        status = culex__redis_bad_reply(redis, "ENQUEUE", error);
    freeReplyObject(reply);
    return status;
}

culex_status culex__redis_enqueue(struct culex_store *base, const char *queue,
                                  const struct culex_ticket *ticket,
                                  const struct culex_new_run *runs, size_t count,
                                  struct culex_enqueue_result *results, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    assert(culex__argument_enqueue(queue, ticket, runs, count, NULL) == CULEX_OK);
    if (count == 0)
        return CULEX_OK;
    uint64_t digest = ticket != NULL ? culex__runs_digest(runs, count) : 0;
    bool is_plain = !runs[0].has_batch && are_ordinary(runs, count);
    const struct culex__redis_script *script = script_of(runs, is_plain);
    culex_status status = call_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    ticket_add(&redis->request, ticket, digest);
    if (runs[0].has_batch)
        culex__redis_id(redis, runs[0].batch);
    return call_finish(redis, script, queue, is_plain, runs, count, results, error);
}

culex_status culex__redis_enqueue_each(struct culex_store *base, const char *queue,
                                       const struct culex_ticket *tickets,
                                       const struct culex_new_run *runs, size_t count,
                                       struct culex_enqueue_result *results, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    assert(count > 0 && count <= CULEX_STORE_EACH_MAX);
    bool is_plain = are_ordinary(runs, count);
    const struct culex__redis_script *script =
        is_plain ? &culex__redis_script_enqueue_each_plain : &culex__redis_script_enqueue_each;
    culex_status status = call_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    tickets_add(&redis->request, tickets, runs, count);
    return call_finish(redis, script, queue, is_plain, runs, count, results, error);
}

/* --- periodic runs ---------------------------------------------------------------------- */

static void periodic_add(struct culex__redis *redis, const struct culex_new_run *periodic)
{
    struct culex_new_run run = *periodic;
    run.at_ms = 0;
    culex__redis_run_add(&redis->request, &run);
}

/* ORDER TICK_WORDS: of the calendar, may overlap. */
static const char *const tick_words[2][2] = {{"", "o"}, {"c", "co"}};

culex_status culex__redis_tick(struct culex_store *base, const struct culex_tick *tick,
                               struct culex_tick_reply *ret_reply, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    assert(culex__argument_tick(tick, NULL) == CULEX_OK);
    culex_status status = call_begin(redis, &culex__redis_script_tick, tick->queue, error);
    if (status != CULEX_OK)
        return status;
    ticket_add(&redis->request, NULL, 0);
    culex__redis_request_text(&redis->request, tick->schedule);
    culex__redis_request_int(&redis->request, culex__redis_delay(tick->tick_ms));
    culex__redis_request_int(&redis->request, culex__redis_delay(tick->interval_ms));
    culex__redis_request_text(&redis->request, tick_words[tick->is_of_calendar][tick->may_overlap]);
    culex__redis_request_add(&redis->request, tick->template, tick->template_len);
    if (tick->run != NULL)
        periodic_add(redis, tick->run);
    redisReply *reply = NULL;
    status = culex__redis_finish(redis, &culex__redis_script_tick, &reply, error);
    if (status != CULEX_OK)
        return status;
    int64_t now_ms, is_enqueued, mark_ms;
    if (culex__redis_reply_int(reply, 0, &now_ms) &&
        culex__redis_reply_int(reply, 1, &is_enqueued) &&
        culex__redis_reply_int(reply, 2, &mark_ms))
        *ret_reply = (struct culex_tick_reply){is_enqueued == 1, mark_ms, now_ms};
    else
        status = culex__redis_bad_reply(redis, "TICK", error);
    freeReplyObject(reply);
    return status;
}

/* False for what redis/schedule_run.lua does not say. */
static bool out_of_turn_read(const redisReply *reply, bool *ret_is_known,
                             struct culex_enqueue_result *ret_result)
{
    const char *letter, *id;
    size_t len;
    if (!culex__redis_reply_text(reply, 0, &letter, &len) || len != 1)
        return false;
    *ret_is_known = letter[0] != '?';
    if (!*ret_is_known)
        return true;
    if (!outcome_read(letter[0], &ret_result->outcome) ||
        !culex__redis_reply_text(reply, 1, &id, &len) || len != sizeof ret_result->id)
        return false;
    memcpy(ret_result->id.b, id, len);
    return true;
}

culex_status culex__redis_schedule_run(struct culex_store *base, const char *queue,
                                       const char *schedule, int64_t asking,
                                       const struct culex_new_run *run,
                                       struct culex_enqueue_result *ret_result, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    struct culex_enqueue_result result = {CULEX_ENQUEUED_NEW, {{0}}};
    bool is_known;
    culex_status status = call_begin(redis, &culex__redis_script_schedule_run, queue, error);
    if (status != CULEX_OK)
        return status;
    ticket_add(&redis->request, NULL, 0);
    culex__redis_request_text(&redis->request, schedule);
    culex__redis_request_int(&redis->request, asking);
    periodic_add(redis, run);
    redisReply *reply = NULL;
    status = culex__redis_finish(redis, &culex__redis_script_schedule_run, &reply, error);
    if (status != CULEX_OK)
        return status;
    if (!out_of_turn_read(reply, &is_known, &result))
        status = culex__redis_bad_reply(redis, "SCHEDULE_RUN", error);
    else if (!is_known)
        status = culex__refuse_schedule(queue, schedule, error);
    else
        *ret_result = result;
    freeReplyObject(reply);
    return status;
}
