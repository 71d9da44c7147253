/* store/redis/step.c - STEP: the request of a worker and the grants that come back. */
#include "store/redis/redis.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/record.h"
#include "base/error.h"
#include "base/limits.h"
#include "core/needs.h"
#include "core/number.h"
#include "core/progress.h"
#include "core/run_id.h"
#include "store/redis/scripts.h"
#include "store/argument.h"
#include "store/event_entry.h"

/* --- request ------------------------------------------------------------------------- */

static const char *event_name(enum culex_run_event event)
{
    switch (event) {
    case CULEX_EVENT_DONE:
        return "DONE";
    case CULEX_EVENT_FAIL:
        return "FAIL";
    case CULEX_EVENT_CRASH:
        return "CRASH";
    case CULEX_EVENT_LOSS:
        return "LOSS";
    case CULEX_EVENT_RELEASE:
        return "RELEASE";
    case CULEX_EVENT_DISCARD:
        return "DISCARD";
    default:
        assert(false); /* the others are not a worker's: store/argument.c */
        return "";
    }
}

/* `order`, which ends with the progress, and behind that the lines: redis/lib_words.lua. */
static void order_add(struct culex__redis *redis, const char *order,
                      const struct culex_log_lines *log)
{
    char most[16];
    int len = snprintf(most, sizeof most, "%" PRIu32 "|", log->most);
    const struct culex__redis_piece pieces[] = {
        {order, strlen(order)}, {"", 1}, {most, (size_t)len}, {log->bytes, log->len}};
    culex__redis_request_join(&redis->request, pieces, log->len > 0 ? 4 : 1);
}

static bool has_words(const struct culex_ack *ack)
{
    return (ack->progress != NULL && ack->progress[0] != '\0') || ack->log.len > 0;
}

static void ack_add(struct culex__redis *redis, const struct culex_ack *ack)
{
    const char *blob = ack->event == CULEX_EVENT_DONE ? ack->result : ack->text;
    bool is_followed = ack->follow_up_count > 0;
    size_t blob_len = 0;
    if (blob != NULL)
        blob_len = ack->event == CULEX_EVENT_DONE ? ack->result_len : strlen(blob);
    char order[64 + CULEX_PROGRESS_MAX];
    assert(culex__progress_is_valid(ack->progress)); /* it fits */
    const char *progress = ack->progress != NULL ? ack->progress : "";
    snprintf(order, sizeof order, "%s|%" PRIu32 "|%" PRId64 "|%d%s%s%s", event_name(ack->event),
             ack->attempt, culex__redis_delay(ack->delay_ms), is_followed ? 2 : blob_len > 0,
             ack->has_begun ? "b" : "", has_words(ack) ? "|" : "", progress);
    culex__redis_id(redis, ack->id);
    order_add(redis, order, &ack->log);
    if (is_followed)
        culex__redis_follow_ups_add(&redis->request, ack);
    else
        culex__redis_request_add(&redis->request, blob, blob_len);
}

static void beat_add(struct culex__redis *redis, const struct culex_beat *beat)
{
    char order[64 + CULEX_PROGRESS_MAX];
    assert(culex__progress_is_valid(beat->progress)); /* it fits */
    const char *progress = beat->progress != NULL ? beat->progress : "";
    culex__redis_id(redis, beat->id);
    snprintf(order, sizeof order, "%" PRIu32 "|%" PRId64 "|%d|%s", beat->attempt,
             culex__redis_delay(beat->extend_ms), beat->is_excused ? 2 : beat->is_started,
             progress);
    order_add(redis, order, &beat->log);
}

/* --- ends of ordinary runs --------------------------------------------------------------- */

/* One of which the first attempt succeeded, with nothing to say beyond that. */
struct end {
    uint64_t place; /* in the line, of its queue's salt */
    int64_t claim_ms;
    uint16_t ack;
};

/* In which order the script is told of acks, and answers them: those that are listed, one by one,
 * then the ends, as stretches of numbers. */
struct order {
    size_t listed, ends;
    uint16_t acks[CULEX_STORE_BATCH_MAX]; /* places of the listed ones */
    struct end end[CULEX_STORE_BATCH_MAX];
};

static bool end_read(const struct culex_ack *ack, uint64_t *ret_place)
{
    struct culex_run_id_parts parts;
    bool is_plain = ack->event == CULEX_EVENT_DONE && ack->attempt == 1 &&
                    (ack->result == NULL || ack->result_len == 0) && ack->follow_up_count == 0 &&
                    !has_words(ack);
    if (!is_plain || !culex__run_id_read(ack->id, &parts) || parts.lane != CULEX__REDIS_LANE_LINE)
        return false;
    /* Numbers beyond 2^38 are none that a queue has reached. */
    if (parts.number >> 38 != 0)
        return false;
    *ret_place = (uint64_t)parts.salt << 38 | parts.number;
    return true;
}

static int end_compare(const void *a, const void *b)
{
    uint64_t left = ((const struct end *)a)->place, right = ((const struct end *)b)->place;
    return left < right ? -1 : left > right;
}

static void order_make(const struct culex_step *step, struct order *ret_order)
{
    bool is_sorted = true;
    ret_order->listed = ret_order->ends = 0;
    for (size_t i = 0; i < step->ack_count; i++) {
        struct end end = {.claim_ms = step->acks[i].claim_ms, .ack = (uint16_t)i};
        if (!end_read(&step->acks[i], &end.place)) {
            ret_order->acks[ret_order->listed++] = (uint16_t)i;
            continue;
        }
        is_sorted = is_sorted && (ret_order->ends == 0 ||
                                  ret_order->end[ret_order->ends - 1].place <= end.place);
        ret_order->end[ret_order->ends++] = end;
    }
    if (!is_sorted)
        qsort(ret_order->end, ret_order->ends, sizeof ret_order->end[0], end_compare);
}

/* How many ends from `first` on have numbers that follow each other, and come from one claim. */
static size_t stretch_of(const struct order *order, size_t first)
{
    size_t next = first + 1;
    while (next < order->ends && order->end[next].place == order->end[next - 1].place + 1 &&
           order->end[next].claim_ms == order->end[first].claim_ms)
        next++;
    return next - first;
}

static size_t groups_count(const struct order *order)
{
    size_t count = 0;
    for (size_t i = 0; i < order->ends; i += stretch_of(order, i))
        count++;
    return count;
}

/* Numbers below 2^38, and the salt above them. */
static uint32_t salt_of(const struct end *end)
{
    return (uint32_t)(end->place >> 38);
}

static void groups_add(struct culex__redis *redis, const struct order *order)
{
    for (size_t i = 0, n; i < order->ends; i += n) {
        n = stretch_of(order, i);
        culex__redis_request_int(&redis->request,
                                 (int64_t)(order->end[i].place & ((UINT64_C(1) << 38) - 1)));
        culex__redis_request_int(&redis->request, (int64_t)n);
        culex__redis_request_int(&redis->request, order->end[i].claim_ms);
    }
}

/* Their ids as an entry of events has them: store/event_entry.h. */
static void group_spans_add(struct culex__redis *redis, const struct culex_step *step,
                            const struct order *order)
{
    unsigned char text[CULEX_STORE_BATCH_MAX * CULEX_EVENT_SPAN_SIZE];
    size_t len = 0;
    for (size_t i = 0; i < order->ends; i++)
        len = culex__event_span_add(text, len, &step->acks[order->end[i].ack].id);
    culex__redis_request_add(&redis->request, text, len);
}

static void group_ids_add(struct culex__redis *redis, const struct culex_step *step,
                          const struct order *order)
{
    struct culex__redis_piece ids[CULEX_STORE_BATCH_MAX];
    for (size_t i = 0; i < order->ends; i++)
        ids[i] = (struct culex__redis_piece){step->acks[order->end[i].ack].id.b, 16};
    if (order->ends > 0)
        culex__redis_request_join(&redis->request, ids, order->ends);
}

/* ORDER STEP_ARGUMENTS: as redis/lib_request.lua reads them. */
static void step_add(struct culex__redis *redis, const struct culex_step *step,
                     const struct order *order)
{
    struct culex__redis_request *request = &redis->request;
    char nonce[24];
    /* Its order is asked for: see call_print() in redis/enqueue.c. */
    snprintf(nonce, sizeof nonce, "%" PRIu64, step->nonce);
    culex__redis_request_text(request, step->session);
    culex__redis_request_text(request, nonce);
    culex__redis_request_int(request, step->want);
    culex__redis_request_int(request, step->max_bytes);
    culex__redis_request_int(request, culex__redis_delay(step->lease_ms));
    culex__redis_request_int(request, (int64_t)order->listed);
    culex__redis_request_int(request, (int64_t)step->beat_count);
    culex__redis_request_int(request, culex__step_starts(step));
    culex__redis_request_int(request, step->in_company);
    culex__redis_request_int(request, (int64_t)groups_count(order));
    for (size_t i = 0; i < order->listed; i++)
        ack_add(redis, &step->acks[order->acks[i]]);
    for (size_t i = 0; i < step->beat_count; i++)
        beat_add(redis, &step->beats[i]);
    groups_add(redis, order);
}

/* --- the two scripts --------------------------------------------------------------------- */

/* Whether step_fast.lua may do: there are only ends, of one salt and of known claims, and a claim.
 */
static bool is_plain(const struct culex_step *step, const struct order *order)
{
    if (step->beat_count > 0 || order->listed > 0)
        return false;
    for (size_t i = 0; i < order->ends; i++) {
        if (order->end[i].claim_ms <= 0)
            return false;
    }
    if (order->ends == 0)
        return step->want > 0;
    return salt_of(&order->end[0]) == salt_of(&order->end[order->ends - 1]);
}

static const struct culex__redis_script *script_of(bool is_fast)
{
    return is_fast ? &culex__redis_script_step_fast : &culex__redis_script_step;
}

static culex_status request_make(struct culex__redis *redis, const struct culex_step *step,
                                 const struct order *order, bool is_fast, culex_error *error)
{
    culex_status status = culex__redis_begin(redis, script_of(is_fast), step->queue, error);
    if (status != CULEX_OK)
        return status;
    step_add(redis, step, order);
    if (is_fast && order->ends > 0)
        culex__redis_request_int(&redis->request, salt_of(&order->end[0]));
    if (!is_fast)
        group_ids_add(redis, step, order);
    else if (order->ends > 0 && redis->call_queue->tells_events)
        group_spans_add(redis, step, order);
    culex__redis_request_text(&redis->request, step->offers != NULL ? step->offers : "");
    return CULEX_OK;
}

static culex_status script_call(struct culex__redis *redis, const struct culex_step *step,
                                const struct order *order, bool is_fast, redisReply **ret_reply,
                                culex_error *error)
{
    culex_status status = request_make(redis, step, order, is_fast, error);
    return status == CULEX_OK ? culex__redis_finish(redis, script_of(is_fast), ret_reply, error)
                              : status;
}

/* "F": something is out of the ordinary, and nothing is written. */
static bool is_left_to_full(const redisReply *reply)
{
    const char *word;
    size_t len;
    return reply->type == REDIS_REPLY_ARRAY && reply->elements == 1 &&
           culex__redis_reply_text(reply, 0, &word, &len) && len == 1 && word[0] == 'F';
}

/* Frees an answer of the fast script that leaves the step to the full one. */
static void fast_take(redisReply **reply)
{
    if (*reply == NULL || !is_left_to_full(*reply))
        return;
    freeReplyObject(*reply);
    *reply = NULL;
}

static culex_status fast_call(struct culex__redis *redis, const struct culex_step *step,
                              const struct order *order, redisReply **ret_reply, culex_error *error)
{
    culex_status status = script_call(redis, step, order, true, ret_reply, error);
    if (status != CULEX_OK)
        return status;
    fast_take(ret_reply);
    return *ret_reply != NULL ? CULEX_OK : script_call(redis, step, order, false, ret_reply, error);
}

/* The fast script comes first, when the answer to the last step of the queue has told that it may
 * do, a moment ago. This one's answer has to say so anew. */
static bool take_calm(struct culex__redis *redis, struct culex__redis_queue *queue,
                      const struct culex_step *step, const struct order *order)
{
    bool is_calm = culex__env_boottime_ns(redis->base.env) < queue->calm_until_ns;
    queue->calm_until_ns = 0;
    return is_calm && !redis->is_never_fast && is_plain(step, order);
}

static culex_status step_call(struct culex__redis *redis, const struct culex_step *step,
                              redisReply **ret_reply, culex_error *error)
{
    struct order order;
    struct culex__redis_queue *queue = culex__redis_queue_find(redis, step->queue);
    if (queue == NULL)
        return culex__fail(error, CULEX_ENOMEM, "out of memory");
    order_make(step, &order);
    return take_calm(redis, queue, step, &order)
               ? fast_call(redis, step, &order, ret_reply, error)
               : script_call(redis, step, &order, false, ret_reply, error);
}

/* --- sent ahead -------------------------------------------------------------------------- */

bool culex__redis_step_send(struct culex_store *base, const struct culex_step *step)
{
    struct culex__redis *redis = culex__redis_of(base);
    struct culex__redis_queue *queue = culex__redis_queue_find(redis, step->queue);
    struct order order;
    assert(culex__argument_step(step, NULL) == CULEX_OK);
    if (redis->ahead.queue != NULL || queue == NULL ||
        culex__redis_wants_announcement(redis, queue))
        return false;
    order_make(step, &order);
    bool is_fast = take_calm(redis, queue, step, &order);
    if (request_make(redis, step, &order, is_fast, NULL) != CULEX_OK ||
        !culex__redis_finish_later(redis, script_of(is_fast)))
        return false;
    redis->ahead = (struct culex__redis_ahead){.queue = queue, .nonce = step->nonce};
    strcpy(redis->ahead.session, step->session);
    return true;
}

static bool is_ahead(const struct culex__redis_ahead *ahead, const struct culex_step *step)
{
    return ahead->nonce == step->nonce && strcmp(ahead->session, step->session) == 0;
}

/* The answer to the step, if it was sent ahead; NULL when it is still to be done. Another step of
 * the queue says that nobody waits for that one's answer any more. */
static culex_status ahead_collect(struct culex__redis *redis, const struct culex_step *step,
                                  redisReply **ret_reply, culex_error *error)
{
    struct culex__redis_ahead *ahead = &redis->ahead;
    redisReply *reply = NULL;
    if (ahead->queue == NULL || strcmp(ahead->queue->name, step->queue) != 0)
        return CULEX_OK;
    redis->call_queue = ahead->queue; /* other calls may have come between */
    culex_status status = culex__redis_collect(redis, &reply, error);
    ahead->queue = NULL;
    fast_take(&reply);
    if (is_ahead(ahead, step)) {
        *ret_reply = reply;
        return status;
    }
    if (reply != NULL)
        freeReplyObject(reply);
    return CULEX_OK;
}

/* --- reply --------------------------------------------------------------------------- */

/* One block: answers, grants, and the names of their jobs. The payloads stay in the reply. */
struct storage {
    redisReply *reply; /* NULL while somebody else owns it */
    char *names;
};

/* ORDER STEP: as redis/step.lua answers. */
enum {
    ITEM_ACKS = 3, /* behind now, due in, flags */
    ITEM_BEATS,
    ITEM_SALT,
    ITEM_FIRST,
    ITEM_SINCE,
    ITEM_BODIES,
    HEAD_ITEMS,
    GRANT_ITEMS = 4 /* before, id, record, payload */
};

/* How many bodies of the line come before a run with a record: a number, or 'NUMBER,DUE' where it
 * is told since when it waited, 0 for not known; else that is for its first attempt its enqueue. */
static bool before_read(const redisReply *reply, size_t at, int64_t *ret_before, int64_t *ret_due)
{
    const char *text, *comma;
    size_t len;
    *ret_due = -1;
    if (culex__redis_reply_int(reply, at, ret_before))
        return true;
    if (!culex__redis_reply_text(reply, at, &text, &len) ||
        (comma = memchr(text, ',', len)) == NULL)
        return false;
    return culex__int64_parse(text, (size_t)(comma - text), ret_before) &&
           culex__int64_parse(comma + 1, len - (size_t)(comma - text) - 1, ret_due) &&
           *ret_due >= 0;
}

static size_t record_at(size_t index)
{
    return HEAD_ITEMS + index * GRANT_ITEMS;
}

static bool answer_read(char letter, enum culex_answer *ret_answer)
{
    static const char letters[] = "ORSGC"; /* ORDER ANSWER */
    const char *at = letter == '\0' ? NULL : strchr(letters, letter);
    if (at == NULL)
        return false;
    *ret_answer = (enum culex_answer)(at - letters);
    return true;
}

static bool acks_read(const redisReply *reply, const struct culex_step *step,
                      enum culex_answer *answers)
{
    struct order order;
    const char *text;
    size_t len;
    if (!culex__redis_reply_text(reply, ITEM_ACKS, &text, &len) || len != step->ack_count)
        return false;
    order_make(step, &order);
    for (size_t i = 0; i < order.listed; i++)
        if (!answer_read(text[i], &answers[order.acks[i]]))
            return false;
    for (size_t i = 0; i < order.ends; i++)
        if (!answer_read(text[order.listed + i], &answers[order.end[i].ack]))
            return false;
    return true;
}

static bool beats_read(const redisReply *reply, size_t count, enum culex_answer *answers)
{
    const char *text;
    size_t len;
    if (!culex__redis_reply_text(reply, ITEM_BEATS, &text, &len) || len != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!answer_read(text[i], &answers[i]))
            return false;
    return true;
}

/* The line's part of the grants. */
struct bodies {
    const redisReply *list;
    int64_t salt, first, since;
};

static bool bodies_read(const redisReply *reply, struct bodies *ret_bodies)
{
    if (!culex__redis_reply_int(reply, ITEM_SALT, &ret_bodies->salt) ||
        !culex__redis_reply_int(reply, ITEM_FIRST, &ret_bodies->first) ||
        !culex__redis_reply_int(reply, ITEM_SINCE, &ret_bodies->since))
        return false;
    ret_bodies->list = reply->element[ITEM_BODIES];
    return ret_bodies->list->type == REDIS_REPLY_ARRAY && ret_bodies->salt >= 0 &&
           ret_bodies->salt <= CULEX_RUN_SALT_MAX && ret_bodies->first >= 0 &&
           ret_bodies->first <= (int64_t)(CULEX_RUN_NUMBER_MAX - ret_bodies->list->elements);
}

/* Takes the job's name of `record`, and moves *names past it. */
static void grant_begin(const struct culex__redis_record *record, culex_uuid id,
                        struct culex_grant *grant, char **names)
{
    grant->facts = record->facts;
    grant->facts.id = id;
    grant->job = *names;
    memcpy(*names, record->job.text, record->job.len);
    (*names)[record->job.len] = '\0';
    *names += record->job.len + 1;
}

/* The same of what it needs. */
static void grant_take_needs(const struct culex__redis_record *record, struct culex_grant *grant,
                             char **names)
{
    size_t len = 0;
    const char *needs = culex__needs_among(record->limits.text, record->limits.len, &len);
    if (needs == NULL)
        return;
    grant->needs = *names;
    memcpy(*names, needs, len);
    (*names)[len] = '\0';
    *names += len + 1;
}

/* Reads the grant of a run with a record. */
static bool grant_read(const redisReply *reply, size_t at, struct culex_grant *grant, char **names)
{
    struct culex__redis_record record;
    culex_uuid run;
    const char *id, *text, *payload;
    size_t id_len, text_len;
    int64_t before, due_ms;
    if (!before_read(reply, at, &before, &due_ms) ||
        !culex__redis_reply_text(reply, at + 1, &id, &id_len) || id_len != sizeof run ||
        !culex__redis_reply_text(reply, at + 2, &text, &text_len) ||
        !culex__redis_reply_text(reply, at + 3, &payload, &grant->payload_len) ||
        !culex__redis_record_parse(text, text_len, &record) || record.state != CULEX_RUN_ACTIVE)
        return false;
    if (due_ms < 0)
        due_ms = record.facts.attempt == 1 ? record.facts.created_at_ms : 0;
    record.facts.due_ms = due_ms;
    memcpy(run.b, id, id_len);
    grant_begin(&record, run, grant, names);
    grant_take_needs(&record, grant, names);
    grant->payload = payload;
    return true;
}

/* Reads the grant of an ordinary run, to which the script has granted its first attempt. */
static bool body_grant_read(const struct bodies *bodies, size_t at, struct culex_grant *grant,
                            char **names)
{
    struct culex__redis_record record;
    const char *body;
    size_t len, payload;
    if (!culex__redis_reply_text(bodies->list, at, &body, &len) ||
        !culex__redis_body_parse(body, len, &record, &payload) ||
        record.facts.created_at_ms >> 48 != 0)
        return false;
    culex_uuid id = culex__run_id_make((struct culex_run_id_parts){
        .ms = record.facts.created_at_ms,
        .salt = (uint32_t)bodies->salt,
        .lane = CULEX__REDIS_LANE_LINE,
        .number = (uint64_t)bodies->first + at,
    });
    record.facts.attempt = 1;
    record.facts.claim_ms = bodies->since;
    record.facts.due_ms = record.facts.created_at_ms;
    grant_begin(&record, id, grant, names);
    grant->payload = body + payload;
    grant->payload_len = len - payload;
    return true;
}

static bool is_granted(const redisReply *bodies, size_t at)
{
    return bodies->element[at]->type != REDIS_REPLY_NIL;
}

/* Bytes that the jobs' names, and what runs need, can take: no more than their records, or heads of
 * bodies, do. */
static size_t names_size(const redisReply *reply, size_t records, const redisReply *bodies)
{
    size_t size = 0, len;
    const char *text;
    for (size_t i = 0; i < records; i++)
        size += culex__redis_reply_text(reply, record_at(i) + 2, &text, &len) ? len + 1 : 1;
    for (size_t i = 0; i < bodies->elements; i++) {
        bool is_text = culex__redis_reply_text(bodies, i, &text, &len);
        const char *end = is_text && len > 0 ? memchr(text, '\n', len) : NULL;
        size += end != NULL ? (size_t)(end - text) + 1 : 0;
    }
    return size;
}

enum { CALM_NS = 900000000 };

enum {
    FLAG_CALM = 32,
    FLAG_SHORT = 64,
    FLAG_FOLLOW_UPS = 128,
    FLAG_EVENTS = 256,
    FLAG_LINES_LEFT = 512,
    FLAG_LATE = 1024,
    FLAG_EXPIRED = 2048,
    EXPIRED_MAX = 1024 /* more than a step looks at */
};

static bool head_read(const redisReply *reply, struct culex_step_reply *head)
{
    int64_t flags;
    if (!culex__redis_reply_int(reply, 0, &head->now_ms) ||
        !culex__redis_reply_int(reply, 1, &head->due_in_ms) ||
        !culex__redis_reply_int(reply, 2, &flags) || head->due_in_ms < -1 || flags < 0 ||
        flags >= FLAG_EXPIRED * (EXPIRED_MAX + 1))
        return false;
    head->is_paused = (flags & 1) != 0;
    head->is_empty = (flags & 2) != 0;
    head->is_held = (flags & 4) != 0;
    head->is_replaced = (flags & 8) != 0;
    head->has_passed = (flags & 16) != 0;
    head->is_short = (flags & FLAG_SHORT) != 0;
    head->lines_left = (flags & FLAG_LINES_LEFT) != 0;
    head->is_late = (flags & FLAG_LATE) != 0;
    head->expired_count = (uint32_t)(flags / FLAG_EXPIRED);
    return true;
}

/* Until when the next step may be a fast one. A queue is calm for a second at most: who comes later
 * would ask in vain and then once more. */
static int64_t calm_until(const struct culex__redis *redis, const redisReply *reply)
{
    int64_t flags;
    if (!culex__redis_reply_int(reply, 2, &flags) || (flags & FLAG_CALM) == 0)
        return 0;
    return culex__env_boottime_ns(redis->base.env) + CALM_NS;
}

static bool tells_events(const redisReply *reply)
{
    int64_t flags;
    return culex__redis_reply_int(reply, 2, &flags) && (flags & FLAG_EVENTS) != 0;
}

static bool has_follow_ups(const redisReply *reply)
{
    int64_t flags;
    return culex__redis_reply_int(reply, 2, &flags) && (flags & FLAG_FOLLOW_UPS) != 0;
}

/* Bodies and records in the order in which they were granted. A run that cannot be read goes
 * without: it must not cost the others their attempt. Its lease runs out, again and again, until it
 * is dead, or its bytes are put aside. */
static bool grants_read(const redisReply *reply, size_t records, const struct bodies *bodies,
                        struct culex_step_reply *read, char *names)
{
    size_t record = 0;
    read->grant_count = 0;
    for (size_t body = 0; body <= bodies->list->elements; body++) {
        int64_t before, due_ms;
        while (record < records && before_read(reply, record_at(record), &before, &due_ms) &&
               (before <= (int64_t)body || body == bodies->list->elements))
            read->grant_count +=
                grant_read(reply, record_at(record++), &read->grants[read->grant_count], &names);
        if (body < bodies->list->elements && is_granted(bodies->list, body))
            read->grant_count +=
                body_grant_read(bodies, body, &read->grants[read->grant_count], &names);
    }
    return record == records;
}

static culex_status items_check(const redisReply *reply, culex_error *error)
{
    size_t items = reply->type == REDIS_REPLY_ARRAY ? reply->elements : 0;
    if (items < HEAD_ITEMS || (items - HEAD_ITEMS) % GRANT_ITEMS != 0)
        return culex__fail(error, CULEX_ECORRUPT,
                           "the answer to STEP has %zu items, not %d and %d for each grant", items,
                           HEAD_ITEMS, GRANT_ITEMS);
    return CULEX_OK;
}

static culex_status grants_count(const redisReply *reply, const struct culex_step *step,
                                 const struct bodies *bodies, size_t *ret_count, culex_error *error)
{
    size_t count = (reply->elements - HEAD_ITEMS) / GRANT_ITEMS;
    for (size_t i = 0; i < bodies->list->elements; i++)
        count += is_granted(bodies->list, i);
    *ret_count = count;
    if (count > step->want)
        return culex__fail(error, CULEX_ECORRUPT,
                           "the answer to STEP has %zu grants, and %" PRIu32 " were asked for",
                           count, step->want);
    return CULEX_OK;
}

culex_status culex__redis_step_read(const redisReply *reply, const struct culex_step *step,
                                    struct culex_step_reply *ret_reply, culex_error *error)
{
    assert(reply != NULL);
    struct culex_step_reply read = {.now_ms = 0};
    struct bodies bodies;
    culex_status status = items_check(reply, error);
    if (status != CULEX_OK)
        return status;
    if (!head_read(reply, &read) || !bodies_read(reply, &bodies))
        return culex__fail(error, CULEX_ECORRUPT,
                           "the answer to STEP begins with something else than its numbers");
    status = grants_count(reply, step, &bodies, &read.grant_count, error);
    if (status != CULEX_OK)
        return status;
    size_t records = (reply->elements - HEAD_ITEMS) / GRANT_ITEMS;
    size_t answers_size = (step->ack_count + step->beat_count + 1) * sizeof *read.acks;
    size_t grants_size = (read.grant_count + 1) * sizeof *read.grants;
    size_t size = sizeof(struct storage) + grants_size + answers_size +
                  names_size(reply, records, bodies.list);
    struct storage *storage = calloc(1, size);
    if (storage == NULL)
        return culex__fail(error, CULEX_ENOMEM, "out of memory");
    read.storage = storage;
    read.grants = (struct culex_grant *)(storage + 1);
    read.acks = (enum culex_answer *)(void *)((char *)read.grants + grants_size);
    read.beats = read.acks + step->ack_count;
    storage->names = (char *)read.acks + answers_size;
    if (!acks_read(reply, step, read.acks) || !beats_read(reply, step->beat_count, read.beats) ||
        !grants_read(reply, records, &bodies, &read, storage->names)) {
        free(storage);
        return culex__fail(error, CULEX_ECORRUPT,
                           "the answer to STEP does not answer its acks and beats");
    }
    *ret_reply = read;
    return CULEX_OK;
}

culex_status culex__redis_step(struct culex_store *base, const struct culex_step *step,
                               struct culex_step_reply *ret_reply, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    assert(culex__argument_step(step, NULL) == CULEX_OK);
    redisReply *reply = NULL;
    culex_status status = ahead_collect(redis, step, &reply, error);
    if (status == CULEX_OK && reply == NULL) {
        culex__redis_announce(redis, step->queue);
        status = step_call(redis, step, &reply, error);
    }
    if (status != CULEX_OK)
        return status;
    status = culex__redis_step_read(reply, step, ret_reply, error);
    redis->call_queue->calm_until_ns = status == CULEX_OK ? calm_until(redis, reply) : 0;
    redis->call_queue->tells_events = status == CULEX_OK && tells_events(reply);
    if (status != CULEX_OK) {
        freeReplyObject(reply);
        return status;
    }
    ((struct storage *)ret_reply->storage)->reply = reply;
    if (has_follow_ups(reply))
        culex__redis_follow_ups_bring(redis, step, ret_reply);
    return CULEX_OK;
}

void culex__redis_step_release(struct culex_store *base, struct culex_step_reply *reply)
{
    (void)base;
    struct storage *storage = reply->storage;
    if (storage != NULL && storage->reply != NULL)
        freeReplyObject(storage->reply);
    free(storage);
    memset(reply, 0, sizeof *reply);
}
