/* store/sqlite/memo.c - what a session's last step was answered, so that the step can be
 * repeated.
 *
 * A step that changed nothing leaves no memo in the file: an idle worker then does not write, and
 * idle workers do not wake each other through the file's change notice. Its nonce is kept in
 * the handle instead, which is enough for the one caller that can repeat it. Only a memo that would
 * soon count as one of a session gone silent is written anew: the worker's name goes with it, by
 * which the worker's next life takes back what this one will hold.
 *
 * answers: ack count, answers, beat count, answers, count of grants, count of their parts, (key,
 * bits, attempt) each; counts and attempts are 32 bits, keys and bits 64, least byte first, answers
 * one byte. A part has the grants of one attempt at key, key + 1 and so on that have a bit. */
#include "store/sqlite/memo.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/sqlite/block.h"
#include "store/sqlite/grant.h"
#include "store/sqlite/error.h"
#include "store/sqlite/run.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "base/error.h"

struct cursor {
    unsigned char *at, *end;
};

static void put_u32(struct cursor *cursor, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        *cursor->at++ = (unsigned char)(value >> 8 * i);
}

static void put_u64(struct cursor *cursor, uint64_t value)
{
    put_u32(cursor, (uint32_t)value);
    put_u32(cursor, (uint32_t)(value >> 32));
}

static void put_answers(struct cursor *cursor, const enum culex_answer *answers, size_t count)
{
    put_u32(cursor, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        *cursor->at++ = (unsigned char)answers[i];
}

static bool get_u32(struct cursor *cursor, uint32_t *ret_value)
{
    if (cursor->end - cursor->at < 4)
        return false;
    *ret_value = 0;
    for (int i = 0; i < 4; i++)
        *ret_value |= (uint32_t)*cursor->at++ << 8 * i;
    return true;
}

static bool get_u64(struct cursor *cursor, uint64_t *ret_value)
{
    uint32_t low, high;
    if (!get_u32(cursor, &low) || !get_u32(cursor, &high))
        return false;
    *ret_value = (uint64_t)high << 32 | low;
    return true;
}

/* False when the memo is not one of this request. */
static bool get_answers(struct cursor *cursor, enum culex_answer *ret_answers, size_t count)
{
    uint32_t stored;
    if (!get_u32(cursor, &stored) || stored != count || (size_t)(cursor->end - cursor->at) < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (*cursor->at > CULEX_ANSWER_CANCEL)
            return false;
        ret_answers[i] = (enum culex_answer) * cursor->at++;
    }
    return true;
}

/* Grants that stand together, as long as they do so in the order of their keys. */
struct part {
    int64_t seq, bits;
    uint32_t attempt;
};

enum { COUNT_SIZE = 4, PART_SIZE = 20 };

static bool part_read(struct cursor *cursor, struct part *ret_part)
{
    uint64_t seq, bits;
    if (!get_u64(cursor, &seq) || !get_u64(cursor, &bits) || !get_u32(cursor, &ret_part->attempt))
        return false;
    ret_part->seq = (int64_t)seq;
    ret_part->bits = (int64_t)(bits & INT64_MAX);
    return true;
}

/* `left`: grants that there is room for. */
static culex_status recall_part(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                const struct culex_step *step, struct part part, uint32_t *left,
                                struct culex_step_reply *reply, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (; part.bits != 0 && status == CULEX_OK; part.bits &= part.bits - 1) {
        int64_t seq = part.seq + culex__sqlite_bits_low(part.bits);
        if ((*left)-- == 0)
            return culex__sqlite_bad_row(store, error);
        status = culex__sqlite_grant_again(store, queue, step, seq, part.attempt, reply, error);
    }
    return status;
}

static culex_status recall_grants(struct culex_sqlite *store,
                                  const struct culex_sqlite_queue *queue,
                                  const struct culex_step *step, struct cursor *cursor,
                                  struct culex_step_reply *reply, culex_error *error)
{
    uint32_t count, parts;
    struct part part;
    if (!get_u32(cursor, &count) || count > CULEX_STORE_BATCH_MAX || !get_u32(cursor, &parts) ||
        parts != (size_t)(cursor->end - cursor->at) / PART_SIZE)
        return culex__sqlite_bad_row(store, error);
    reply->grants = malloc((count + 1) * sizeof *reply->grants);
    if (reply->grants == NULL)
        return culex__sqlite_no_memory(error);
    culex_status status = CULEX_OK;
    while (status == CULEX_OK && part_read(cursor, &part))
        status = recall_part(store, queue, step, part, &count, reply, error);
    return status;
}

/* The handle's own last step was one of this session and queue, and found nothing. */
static bool is_idle_known(const struct culex_sqlite *store, const struct culex_step *step)
{
    return store->idle.queue != NULL && strcmp(store->idle.session, step->session) == 0 &&
           strcmp(store->idle.queue, step->queue) == 0;
}

/* To a step that came after the session's next one, or from one that was replaced. */
static void answer_late(const struct culex_step *step, struct culex_step_reply *reply)
{
    reply->is_late = !reply->is_replaced;
    for (size_t i = 0; i < step->ack_count; i++)
        reply->acks[i] = CULEX_ANSWER_STALE;
    for (size_t i = 0; i < step->beat_count; i++)
        reply->beats[i] = CULEX_ANSWER_STALE;
}

static culex_status recall(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                           const struct culex_step *step, sqlite3_stmt *statement,
                           struct culex_step_reply *reply, culex_error *error)
{
    const unsigned char *bytes = sqlite3_column_blob(statement, 1);
    size_t len = (size_t)sqlite3_column_bytes(statement, 1);
    if (bytes == NULL)
        return culex__sqlite_bad_row(store, error);
    struct cursor cursor = {(unsigned char *)bytes, (unsigned char *)bytes + len};
    if (!get_answers(&cursor, reply->acks, step->ack_count) ||
        !get_answers(&cursor, reply->beats, step->beat_count))
        return culex__fail(error, CULEX_EINVAL, "this nonce belongs to another step");
    return recall_grants(store, queue, step, &cursor, reply, error);
}

culex_status culex__sqlite_memo_recall(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue,
                                       const struct culex_step *step,
                                       struct culex_step_reply *reply, bool *ret_is_old,
                                       culex_error *error)
{
    bool is_known = is_idle_known(store, step);
    bool is_late = is_known && step->nonce < store->idle.nonce;
    *ret_is_old = is_late || (is_known && step->nonce == store->idle.nonce &&
                              step->ack_count + step->beat_count == 0);
    if (is_late)
        answer_late(step, reply);
    if (*ret_is_old || queue->key == 0)
        return CULEX_OK;
    sqlite3_stmt *statement =
        SQL_BIND(store, MEMO_GET, SQL_INT(queue->key), SQL_TEXT(step->session));
    int has = culex__sqlite_next(store, statement, error);
    uint64_t last = has > 0 ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    *ret_is_old = has > 0 && step->nonce <= last;
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    store->idle.seen_ms = has > 0 ? sqlite3_column_int64(statement, 2) : INT64_MAX;
    reply->is_replaced = has > 0 && sqlite3_column_bytes(statement, 1) == 0;
    if (*ret_is_old && (step->nonce < last || reply->is_replaced))
        answer_late(step, reply);
    else if (*ret_is_old)
        status = recall(store, queue, step, statement, reply, error);
    culex__sqlite_end(statement);
    return status;
}

culex_status culex__sqlite_memo_begin(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue, const char *session,
                                      culex_error *error)
{
    return culex__sqlite_finish(
        store,
        SQL_BIND(store, MEMO_BEGIN, SQL_INT(queue->key), SQL_TEXT(session), SQL_INT(store->now_ms)),
        error);
}

culex_status culex__sqlite_memo_replace(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, const char *session,
                                        culex_error *error)
{
    return culex__sqlite_finish(store,
                                SQL_BIND(store, MEMO_SET, SQL_INT(queue->key), SQL_TEXT(session),
                                         SQL_INT((int64_t)UINT64_MAX), SQL_INT(store->now_ms),
                                         SQL_BYTES("", (size_t)0)),
                                error);
}

/* The session's memo is as old as that of one that has half gone. */
static bool is_fading(const struct culex_sqlite *store)
{
    return store->idle.seen_ms < store->now_ms - CULEX_SESSION_TTL_MS / 2;
}

static culex_status keep_idle(struct culex_sqlite *store, const struct culex_step *step,
                              culex_error *error)
{
    char *queue = strdup(step->queue);
    if (queue == NULL)
        return culex__sqlite_no_memory(error);
    free(store->idle.queue);
    store->idle.queue = queue;
    store->idle.nonce = step->nonce;
    assert(strlen(step->session) < sizeof store->idle.session);
    snprintf(store->idle.session, sizeof store->idle.session, "%s", step->session);
    return CULEX_OK;
}

static struct part part_of(const struct culex_sqlite_queue *queue, const struct culex_grant *grant)
{
    return (struct part){culex__sqlite_queue_seq(queue, grant->facts.id), 1, grant->facts.attempt};
}

/* The parts of the grants, of which `ret_parts` has room for as many; returns their count. */
static size_t parts_make(const struct culex_sqlite_queue *queue,
                         const struct culex_step_reply *reply, struct part *ret_parts)
{
    size_t count = 0;
    for (size_t i = 0; i < reply->grant_count; i++) {
        struct part next = part_of(queue, &reply->grants[i]);
        struct part *last = count > 0 ? &ret_parts[count - 1] : NULL;
        int64_t bit = last != NULL ? culex__sqlite_block_bit(last->seq, next.seq) : 0;
        if (bit > 0 && last->bits < bit && last->attempt == next.attempt)
            last->bits |= bit;
        else
            ret_parts[count++] = next;
    }
    return count;
}

static void parts_write(struct cursor *cursor, const struct part *parts, size_t count)
{
    put_u32(cursor, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        put_u64(cursor, (uint64_t)parts[i].seq);
        put_u64(cursor, (uint64_t)parts[i].bits);
        put_u32(cursor, parts[i].attempt);
    }
}

/* A worker is known by its name for as long as it may hold a run without a word. */
static culex_status memo_set(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                             const struct culex_step *step, const void *bytes, size_t len,
                             culex_error *error)
{
    int64_t seen_ms = culex__sqlite_later(store->now_ms, step->lease_ms - CULEX_SESSION_TTL_MS);
    return culex__sqlite_finish(store,
                                SQL_BIND(store, MEMO_SET, SQL_INT(queue->key),
                                         SQL_TEXT(step->session), SQL_INT((int64_t)step->nonce),
                                         SQL_INT(seen_ms), SQL_BYTES(bytes, len)),
                                error);
}

/* In one allocation with the bytes that they come to. */
static culex_status memo_write(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               const struct culex_step *step, const struct culex_step_reply *reply,
                               culex_error *error)
{
    size_t answers = 2 * COUNT_SIZE + step->ack_count + step->beat_count;
    size_t size = answers + 2 * COUNT_SIZE + PART_SIZE * reply->grant_count;
    struct part *parts = malloc((reply->grant_count + 1) * sizeof *parts + size);
    if (parts == NULL)
        return culex__sqlite_no_memory(error);
    unsigned char *bytes = (unsigned char *)(parts + reply->grant_count + 1);
    struct cursor cursor = {bytes, bytes + size};
    put_answers(&cursor, reply->acks, step->ack_count);
    put_answers(&cursor, reply->beats, step->beat_count);
    put_u32(&cursor, (uint32_t)reply->grant_count);
    parts_write(&cursor, parts, parts_make(queue, reply, parts));
    assert(cursor.at <= cursor.end);
    culex_status status = memo_set(store, queue, step, bytes, (size_t)(cursor.at - bytes), error);
    free(parts);
    return status;
}

culex_status culex__sqlite_memo_keep(struct culex_sqlite *store,
                                     const struct culex_sqlite_queue *queue,
                                     const struct culex_step *step,
                                     const struct culex_step_reply *reply, culex_error *error)
{
    bool is_idle = step->ack_count + step->beat_count + reply->grant_count == 0;
    if (is_idle && (queue->key == 0 || !is_fading(store)))
        return keep_idle(store, step, error);
    if (queue->key == 0)
        return CULEX_OK; /* no such queue: every answer is GONE, again and again */
    return memo_write(store, queue, step, reply, error);
}
