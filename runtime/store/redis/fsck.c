/* store/redis/fsck.c - FSCK: one share of redis/fsck.lua a call, and what is known in between.
 *
 * A list has no membership test. So the runs that must be in the ready list are noted here while
 * the records are read, crossed off while the list is walked, and what is left is looked at once
 * more by the script, which alone decides. This takes 32 bytes of this process a waiting run, and
 * nothing of the server's memory: a report can be made of a server that is full or read-only. */
#include "store/redis/redis.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "store/redis/scripts.h"

/* ORDER FSCK_SHARE: what precedes is repaired before it is relied upon. */
enum {
    SHARE_BLOCKS,
    SHARE_CHARS = 4,
    SHARE_NUMBERS,
    SHARE_BODIES,
    SHARE_COUNTS,
    SHARE_RECORDS,
    SHARE_WALK,
    SHARE_VERIFY,
    SHARE_BATCH_COUNTS = SHARE_VERIFY + 32,
    SHARE_COUNT = SHARE_VERIFY + 42
};
static const char *const shares[SHARE_COUNT] = {"blocks",       "spans",
                                                "block_leases", "block_ends",
                                                "chars",        "numbers",
                                                "bodies",       "counts",
                                                "records",      "walk",
                                                "verify",       "urgent",
                                                "scheduled",    "scheduled_urgent",
                                                "active",       "done",
                                                "dead",         "cancelled",
                                                "payloads",     "results",
                                                "errors",       "progress",
                                                "logs",         "unique",
                                                "producers",    "producers_until",
                                                "keys",         "keys_until",
                                                "sessions",     "sessions_seen",
                                                "schedules",    "unique_until",
                                                "limited",      "slots",
                                                "buckets",      "refills",
                                                "limits",       "follow_ups",
                                                "waits",        "waits_until",
                                                "batches",      "batches_until",
                                                "batch_counts", "events",
                                                "metadata",     "figures",
                                                "figures_rows", "figures_calls",
                                                "schemas",      "schema_texts",
                                                "schemas_told", "totals"};

enum { PLACE_BITS = 56, VERIFY_MAX = 200 };

/* A run of priority 0 that waited when its record was read. */
struct suspect {
    culex_uuid id;
    uint32_t attempt;
    bool is_met;
    int64_t expires_at_ms;
};

/* What the shares have told of the line so far. */
struct line {
    int64_t held, kept;
    int64_t most;  /* the greatest number of a body */
    int64_t least; /* the first one that waits; 0 for none */
    char mark[160];
};

/* From the call with cursor 0 to the end. */
struct culex__redis_fsck {
    struct suspect *suspects;
    size_t count, cap;
    bool is_sorted;
    uint64_t found;  /* wrong or damaged so far */
    uint64_t cursor; /* of the newest call */
    struct line line;
    char queue[CULEX_QUEUE_NAME_MAX + 1];
};

void culex__redis_fsck_release(struct culex__redis *redis)
{
    if (redis->fsck != NULL)
        free(redis->fsck->suspects);
    free(redis->fsck);
    redis->fsck = NULL;
}

static culex_status fsck_begin(struct culex__redis *redis, const char *queue, culex_error *error)
{
    culex__redis_fsck_release(redis);
    redis->fsck = calloc(1, sizeof *redis->fsck);
    if (redis->fsck == NULL)
        return culex__fail(error, CULEX_ENOMEM, "out of memory");
    strcpy(redis->fsck->queue, queue);
    return CULEX_OK;
}

/* --- suspects --------------------------------------------------------------------------- */

static bool suspect_add(struct culex__redis_fsck *fsck, const struct suspect *suspect)
{
    if (fsck->count == fsck->cap) {
        size_t cap = fsck->cap == 0 ? 256 : fsck->cap * 2;
        struct suspect *grown = realloc(fsck->suspects, cap * sizeof *grown);
        if (grown == NULL)
            return false;
        fsck->suspects = grown;
        fsck->cap = cap;
    }
    fsck->suspects[fsck->count++] = *suspect;
    return true;
}

static int suspect_compare(const void *a, const void *b)
{
    return memcmp(&((const struct suspect *)a)->id, &((const struct suspect *)b)->id,
                  sizeof(culex_uuid));
}

/* A scan may show a record twice; the newer sight of it is as good as the older. */
static void suspects_sort(struct culex__redis_fsck *fsck)
{
    size_t kept = 0;
    if (fsck->is_sorted)
        return;
    if (fsck->count > 0)
        qsort(fsck->suspects, fsck->count, sizeof *fsck->suspects, suspect_compare);
    for (size_t i = 0; i < fsck->count; i++) {
        if (kept == 0 || suspect_compare(&fsck->suspects[kept - 1], &fsck->suspects[i]) != 0)
            fsck->suspects[kept++] = fsck->suspects[i];
    }
    fsck->count = kept;
    fsck->is_sorted = true;
}

static void suspect_meet(struct culex__redis_fsck *fsck, const char *id)
{
    struct suspect key = {.attempt = 0};
    if (fsck->count == 0)
        return;
    memcpy(&key.id, id, sizeof key.id);
    struct suspect *found =
        bsearch(&key, fsck->suspects, fsck->count, sizeof *fsck->suspects, suspect_compare);
    if (found != NULL)
        found->is_met = true;
}

/* Adds the next ones that were not met to the request; returns where to go on, 0 at the end. */
static size_t suspects_send(struct culex__redis *redis, size_t from)
{
    struct culex__redis_fsck *fsck = redis->fsck;
    size_t sent = 0, at = from;
    suspects_sort(fsck);
    for (; at < fsck->count && sent < VERIFY_MAX; at++) {
        const struct suspect *suspect = &fsck->suspects[at];
        if (suspect->is_met)
            continue;
        culex__redis_id(redis, suspect->id);
        culex__redis_request_int(&redis->request, suspect->attempt);
        culex__redis_request_int(&redis->request, suspect->expires_at_ms);
        sent++;
    }
    return at < fsck->count ? at : 0;
}

/* --- the answer ------------------------------------------------------------------------- */

enum { REPLY_HEAD = 4, LINE_TEXTS = 5 };

static bool number_parse(const redisReply *reply, size_t at, int64_t max, int64_t *ret_value)
{
    const char *text;
    char *end;
    size_t len;
    if (!culex__redis_reply_text(reply, at, &text, &len) || len == 0 || len > 18 ||
        strspn(text, "0123456789") != len)
        return false;
    *ret_value = strtoll(text, &end, 10);
    return *ret_value <= max;
}

static bool suspects_read(struct culex__redis_fsck *fsck, const redisReply *reply,
                          bool *ret_is_full)
{
    for (size_t at = REPLY_HEAD; at < reply->elements; at += 3) {
        struct suspect suspect = {.is_met = false};
        const char *id;
        size_t len;
        int64_t attempt;
        if (!culex__redis_reply_text(reply, at, &id, &len) || len != sizeof suspect.id ||
            !number_parse(reply, at + 1, UINT32_MAX, &attempt) ||
            !number_parse(reply, at + 2, INT64_MAX, &suspect.expires_at_ms))
            return false;
        memcpy(&suspect.id, id, len);
        suspect.attempt = (uint32_t)attempt;
        if (!suspect_add(fsck, &suspect)) {
            *ret_is_full = true;
            return true;
        }
    }
    return true;
}

static size_t digits_of(const char *text, size_t len)
{
    size_t count = 0;
    while (count < len && text[count] >= '0' && text[count] <= '9')
        count++;
    return count;
}

/* An entry of the ready list is an id and, in decimal, a number of the line; where it came to the
 * list later than its run was enqueued, '@' and when. */
static bool entry_is_sound(const char *entry, size_t len)
{
    enum { DIGITS_MAX = 18 };
    size_t at = sizeof(culex_uuid);
    if (len <= at || len > at + 2 * DIGITS_MAX + 1)
        return false;
    at += digits_of(entry + at, len - at);
    if (at == len || at == sizeof(culex_uuid) || entry[at] != '@')
        return at == len;
    return ++at < len && digits_of(entry + at, len - at) == len - at;
}

static void walk_read(struct culex__redis_fsck *fsck, const redisReply *reply)
{
    const char *entry;
    size_t len;
    suspects_sort(fsck);
    for (size_t at = REPLY_HEAD; at < reply->elements; at++) {
        if (culex__redis_reply_text(reply, at, &entry, &len) && entry_is_sound(entry, len))
            suspect_meet(fsck, entry);
    }
}

static bool share_is_of_line(unsigned share)
{
    return share >= SHARE_CHARS && share < SHARE_COUNTS;
}

/* Held and kept runs of the share's chars, less those that its bodies took out again; the greatest
 * and the first waiting number of its bodies, and how it has left the line. */
static bool line_read(struct line *line, unsigned share, const redisReply *reply)
{
    int64_t values[LINE_TEXTS - 1];
    const char *mark;
    size_t len;
    for (size_t i = 0; i < LINE_TEXTS - 1; i++) {
        if (!culex__redis_reply_int(reply, REPLY_HEAD + i, &values[i]) ||
            (values[i] < 0 && (i > 1 || share != SHARE_BODIES)))
            return false;
    }
    if (!culex__redis_reply_text(reply, REPLY_HEAD + LINE_TEXTS - 1, &mark, &len) ||
        reply->elements != REPLY_HEAD + LINE_TEXTS || len >= sizeof line->mark)
        return false;
    memcpy(line->mark, mark, len + 1);
    line->held += values[0];
    line->kept += values[1];
    line->most = values[2] > line->most ? values[2] : line->most;
    bool is_first = line->least == 0 || (values[3] != 0 && values[3] < line->least);
    if (share == SHARE_NUMBERS || is_first)
        line->least = values[3];
    return true;
}

static bool counts_read(const redisReply *reply, int64_t *ret_place, culex_fsck_counts *ret_counts)
{
    int64_t values[3];
    if (!number_parse(reply, 0, (INT64_C(1) << PLACE_BITS) - 1, ret_place))
        return false;
    for (size_t i = 0; i < 3; i++) {
        if (!culex__redis_reply_int(reply, i + 1, &values[i]) || values[i] < 0)
            return false;
    }
    *ret_counts = (culex_fsck_counts){.records = (uint64_t)values[0],
                                      .wrong = (uint64_t)values[1],
                                      .damaged = (uint64_t)values[2]};
    return true;
}

/* Whether what the share counts was not compared. */
static bool skipped_read(const redisReply *reply, culex_fsck_counts *counts)
{
    int64_t skipped;
    if (!culex__redis_reply_int(reply, REPLY_HEAD, &skipped) || skipped < 0 || skipped > 1)
        return false;
    counts->skipped = (uint64_t)skipped;
    return true;
}

/* `place`: where the share goes on as this side knows it, replaced by what the script says unless
 * it is the one of the suspects. */
static culex_status reply_read(struct culex__redis *redis, unsigned share, const redisReply *reply,
                               int64_t *place, culex_fsck_counts *ret_counts, culex_error *error)
{
    bool is_full = false;
    int64_t next;
    if (!counts_read(reply, &next, ret_counts) ||
        ((share == SHARE_COUNTS || share == SHARE_BATCH_COUNTS) &&
         !skipped_read(reply, ret_counts)) ||
        (share == SHARE_RECORDS && !suspects_read(redis->fsck, reply, &is_full)) ||
        (share_is_of_line(share) && !line_read(&redis->fsck->line, share, reply)))
        return culex__redis_bad_reply(redis, "FSCK", error);
    if (is_full)
        return culex__fail(error, CULEX_ENOMEM, "no memory for the waiting runs of a queue");
    if (share == SHARE_WALK)
        walk_read(redis->fsck, reply);
    if (share != SHARE_VERIFY)
        *place = next;
    return CULEX_OK;
}

/* --- one share -------------------------------------------------------------------------- */

/* A call that is made again would count what it tells twice. */
static void line_begin(struct culex__redis_fsck *fsck, uint64_t cursor)
{
    if (cursor == (uint64_t)SHARE_CHARS << PLACE_BITS)
        fsck->line = (struct line){.held = 0};
    else if (cursor == fsck->cursor)
        strcpy(fsck->line.mark, "!");
    fsck->cursor = cursor;
}

static void line_send(struct culex__redis *redis)
{
    const struct line *line = &redis->fsck->line;
    const int64_t values[] = {line->held, line->kept, line->most, line->least};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        culex__redis_request_int(&redis->request, values[i]);
}

static culex_status share_call(struct culex__redis *redis, unsigned share, bool is_repairing,
                               int64_t *place, culex_fsck_counts *ret_counts, culex_error *error)
{
    struct culex__redis_fsck *fsck = redis->fsck;
    redisReply *reply = NULL;
    culex_status status = culex__redis_begin(redis, &culex__redis_script_fsck, fsck->queue, error);
    if (status != CULEX_OK)
        return status;
    /* While something else is wrong, what a report tells of some things would only be wrong after
     * it. */
    bool is_doubtful = !is_repairing && fsck->found > 0;
    culex__redis_request_text(&redis->request, shares[share]);
    culex__redis_request_int(&redis->request, *place);
    culex__redis_request_text(&redis->request, is_repairing ? "1" : "0");
    culex__redis_request_text(&redis->request, is_doubtful ? "1" : "0");
    culex__redis_request_text(&redis->request, fsck->line.mark);
    if (share_is_of_line(share) || share == SHARE_COUNTS)
        line_send(redis);
    if (share == SHARE_VERIFY)
        *place = (int64_t)suspects_send(redis, (size_t)*place);
    status = culex__redis_finish(redis, &culex__redis_script_fsck, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = reply_read(redis, share, reply, place, ret_counts, error);
    freeReplyObject(reply);
    return status;
}

culex_status culex__redis_fsck(struct culex_store *base, const char *queue, uint64_t cursor,
                               bool is_repairing, struct culex_fsck_reply *ret_reply,
                               culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    unsigned share = (unsigned)(cursor >> PLACE_BITS);
    int64_t place = (int64_t)(cursor & ((UINT64_C(1) << PLACE_BITS) - 1));
    culex_status status = cursor == 0 ? fsck_begin(redis, queue, error) : CULEX_OK;
    if (status != CULEX_OK)
        return status;
    if (redis->fsck == NULL || strcmp(redis->fsck->queue, queue) != 0 || share >= SHARE_COUNT)
        return culex__fail(error, CULEX_EINVAL, "this cursor is not of the FSCK under way");
    culex_fsck_counts counts = {0};
    line_begin(redis->fsck, cursor);
    status = share_call(redis, share, is_repairing, &place, &counts, error);
    if (status != CULEX_OK)
        return status;
    redis->fsck->found += counts.wrong + counts.damaged;
    share += place == 0;
    if (share == SHARE_COUNT)
        culex__redis_fsck_release(redis);
    *ret_reply = (struct culex_fsck_reply){
        .cursor = share == SHARE_COUNT ? 0 : (uint64_t)share << PLACE_BITS | (uint64_t)place,
        .counts = counts};
    return CULEX_OK;
}
