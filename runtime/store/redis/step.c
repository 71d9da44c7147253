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
#include "core/progress.h"
#include "store/redis/scripts.h"
#include "store/argument.h"

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

static void ack_add(struct culex__redis *redis, const struct culex_ack *ack)
{
    const char *blob = ack->event == CULEX_EVENT_DONE ? ack->result : ack->text;
    size_t blob_len = 0;
    if (blob != NULL)
        blob_len = ack->event == CULEX_EVENT_DONE ? ack->result_len : strlen(blob);
    char order[64 + CULEX_PROGRESS_MAX];
    assert(culex__progress_is_valid(ack->progress)); /* it fits */
    bool has_progress = ack->progress != NULL && ack->progress[0] != '\0';
    snprintf(order, sizeof order, "%s|%" PRIu32 "|%" PRId64 "|%d%s%s", event_name(ack->event),
             ack->attempt, culex__redis_delay(ack->delay_ms), blob_len > 0, has_progress ? "|" : "",
             has_progress ? ack->progress : "");
    culex__redis_id(redis, ack->id);
    culex__redis_request_text(&redis->request, order);
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
    culex__redis_request_text(&redis->request, order);
}

static void step_add(struct culex__redis *redis, const struct culex_step *step)
{
    struct culex__redis_request *request = &redis->request;
    char nonce[24];
    snprintf(nonce, sizeof nonce, "%" PRIx64, step->nonce);
    culex__redis_request_text(request, step->session);
    culex__redis_request_text(request, nonce);
    culex__redis_request_int(request, step->want);
    culex__redis_request_int(request, step->max_bytes);
    culex__redis_request_int(request, culex__redis_delay(step->lease_ms));
    culex__redis_request_int(request, (int64_t)step->ack_count);
    culex__redis_request_int(request, (int64_t)step->beat_count);
    culex__redis_request_int(request, culex__step_starts(step));
    culex__redis_request_int(request, step->in_company);
    for (size_t i = 0; i < step->ack_count; i++)
        ack_add(redis, &step->acks[i]);
    for (size_t i = 0; i < step->beat_count; i++)
        beat_add(redis, &step->beats[i]);
}

/* --- reply --------------------------------------------------------------------------- */

/* One block: answers, grants, and the names of their jobs. The payloads stay in the reply. */
struct storage {
    redisReply *reply; /* NULL while somebody else owns it */
    char *names;
};

/* ORDER STEP: as redis/step.lua answers. */
enum {
    HEAD_ITEMS = 5, /* now, due in, flags, acks, beats */
    GRANT_ITEMS = 3 /* id, record, payload */
};

static size_t grant_at(size_t index)
{
    return HEAD_ITEMS + index * GRANT_ITEMS;
}

static bool answers_read(const redisReply *reply, size_t at, size_t count,
                         enum culex_answer *answers)
{
    static const char letters[] = "ORSGC"; /* ORDER ANSWER */
    const char *text;
    size_t len;
    if (!culex__redis_reply_text(reply, at, &text, &len) || len != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *letter = text[i] == '\0' ? NULL : strchr(letters, text[i]);
        if (letter == NULL)
            return false;
        answers[i] = (enum culex_answer)(letter - letters);
    }
    return true;
}

/* Reads one grant and moves *names past the job's name. */
static bool grant_read(const redisReply *reply, size_t at, struct culex_grant *grant, char **names)
{
    struct culex__redis_record record;
    const char *id, *text, *payload;
    size_t id_len, text_len;
    if (!culex__redis_reply_text(reply, at, &id, &id_len) || id_len != sizeof grant->facts.id ||
        !culex__redis_reply_text(reply, at + 1, &text, &text_len) ||
        !culex__redis_reply_text(reply, at + 2, &payload, &grant->payload_len) ||
        !culex__redis_record_parse(text, text_len, &record) || record.state != CULEX_RUN_ACTIVE)
        return false;
    grant->facts = record.facts;
    memcpy(grant->facts.id.b, id, id_len);
    grant->payload = payload;
    grant->job = *names;
    memcpy(*names, record.job.text, record.job.len);
    (*names)[record.job.len] = '\0';
    *names += record.job.len + 1;
    return true;
}

/* Bytes that the jobs' names can take: no more than their records do. */
static size_t names_size(const redisReply *reply, size_t grants)
{
    size_t size = 0, len;
    const char *text;
    for (size_t i = 0; i < grants; i++)
        size += culex__redis_reply_text(reply, grant_at(i) + 1, &text, &len) ? len + 1 : 1;
    return size;
}

enum { FLAG_EXPIRED = 32, EXPIRED_MAX = 1024 /* more than a step looks at */ };

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
    head->expired_count = (uint32_t)(flags / FLAG_EXPIRED);
    return true;
}

static bool body_read(const redisReply *reply, const struct culex_step *step,
                      struct culex_step_reply *body, char *names)
{
    if (!answers_read(reply, 3, step->ack_count, body->acks) ||
        !answers_read(reply, 4, step->beat_count, body->beats))
        return false;
    /* A run that cannot be read goes without: it must not cost the others their attempt. Its lease
     * runs out, again and again, until it is dead. */
    size_t granted = body->grant_count;
    body->grant_count = 0;
    for (size_t i = 0; i < granted; i++)
        body->grant_count +=
            grant_read(reply, grant_at(i), &body->grants[body->grant_count], &names);
    return true;
}

static culex_status grants_count(const redisReply *reply, const struct culex_step *step,
                                 size_t *ret_count, culex_error *error)
{
    size_t items = reply->type == REDIS_REPLY_ARRAY ? reply->elements : 0;
    if (items < HEAD_ITEMS || (items - HEAD_ITEMS) % GRANT_ITEMS != 0)
        return culex__fail(error, CULEX_ECORRUPT,
                           "the answer to STEP has %zu items, not %d and %d for each grant", items,
                           HEAD_ITEMS, GRANT_ITEMS);
    *ret_count = (items - HEAD_ITEMS) / GRANT_ITEMS;
    if (*ret_count > step->want)
        return culex__fail(error, CULEX_ECORRUPT,
                           "the answer to STEP has %zu grants, and %" PRIu32 " were asked for",
                           *ret_count, step->want);
    return CULEX_OK;
}

culex_status culex__redis_step_read(const redisReply *reply, const struct culex_step *step,
                                    struct culex_step_reply *ret_reply, culex_error *error)
{
    struct culex_step_reply read = {.now_ms = 0};
    culex_status status = grants_count(reply, step, &read.grant_count, error);
    if (status != CULEX_OK)
        return status;
    if (!head_read(reply, &read))
        return culex__fail(error, CULEX_ECORRUPT,
                           "the answer to STEP begins with something else than its three numbers");
    size_t answers_size = (step->ack_count + step->beat_count + 1) * sizeof *read.acks;
    size_t grants_size = (read.grant_count + 1) * sizeof *read.grants;
    size_t size =
        sizeof(struct storage) + grants_size + answers_size + names_size(reply, read.grant_count);
    struct storage *storage = calloc(1, size);
    if (storage == NULL)
        return culex__fail(error, CULEX_ENOMEM, "out of memory");
    read.storage = storage;
    read.grants = (struct culex_grant *)(storage + 1);
    read.acks = (enum culex_answer *)(void *)((char *)read.grants + grants_size);
    read.beats = read.acks + step->ack_count;
    storage->names = (char *)read.acks + answers_size;
    if (!body_read(reply, step, &read, storage->names)) {
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
    culex_status status = culex__redis_begin(redis, &culex__redis_script_step, step->queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_announce(redis, step->queue);
    step_add(redis, step);
    redisReply *reply = NULL;
    status = culex__redis_finish(redis, &culex__redis_script_step, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = culex__redis_step_read(reply, step, ret_reply, error);
    if (status != CULEX_OK)
        freeReplyObject(reply);
    else
        ((struct storage *)ret_reply->storage)->reply = reply;
    return status;
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
