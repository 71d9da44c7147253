#include "store/redis/record.h"

#include <string.h>

#include "core/record_text.h"
#include "store/store.h"

/* A field that was cut out, and where the next one begins. */
struct cursor {
    const char *at, *end;
    bool is_over; /* the last field was taken */
    bool is_bad;
};

static struct culex__redis_slice field_next(struct cursor *cursor)
{
    struct culex__redis_slice field = {cursor->at, 0};
    if (cursor->is_over) {
        cursor->is_bad = true;
        return field;
    }
    const char *bar = memchr(cursor->at, '|', (size_t)(cursor->end - cursor->at));
    cursor->is_over = bar == NULL;
    const char *stop = bar == NULL ? cursor->end : bar;
    field.len = (size_t)(stop - cursor->at);
    cursor->at = bar == NULL ? cursor->end : bar + 1;
    return field;
}

/* Decimal digits without a sign or a leading zero. */
static int64_t field_int(struct cursor *cursor, int64_t max)
{
    struct culex__redis_slice field = field_next(cursor);
    int64_t value = 0;
    bool is_good = field.len > 0 && field.len <= 18 && (field.text[0] != '0' || field.len == 1);
    for (size_t i = 0; is_good && i < field.len; i++) {
        is_good = field.text[i] >= '0' && field.text[i] <= '9';
        value = value * 10 + (field.text[i] - '0');
    }
    if (!is_good || value > max) {
        cursor->is_bad = true;
        return 0;
    }
    return value;
}

static uint32_t field_u32(struct cursor *cursor)
{
    return (uint32_t)field_int(cursor, UINT32_MAX);
}

static int64_t field_ms(struct cursor *cursor)
{
    return field_int(cursor, INT64_MAX);
}

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Sixteen lower-case digits. */
static uint64_t field_hex(struct cursor *cursor)
{
    struct culex__redis_slice field = field_next(cursor);
    uint64_t value = 0;
    if (field.len != 16)
        cursor->is_bad = true;
    for (size_t i = 0; !cursor->is_bad && i < field.len; i++) {
        int digit = hex_value(field.text[i]);
        cursor->is_bad = digit < 0;
        value = value << 4 | (uint64_t)(digit & 15);
    }
    return value;
}

static struct culex__redis_slice field_name(struct cursor *cursor)
{
    struct culex__redis_slice field = field_next(cursor);
    if (!culex__record_text_is_valid(field.text, field.len))
        cursor->is_bad = true;
    return field;
}

static culex_run_state field_state(struct cursor *cursor)
{
    struct culex__redis_slice field = field_next(cursor);
    culex_run_state state = CULEX_RUN_SCHEDULED;
    if (field.len != 1 || !culex__run_state_parse(field.text[0], &state))
        cursor->is_bad = true;
    return state;
}

/* ORDER RECORD_FIELD: each row of run_rules.def reads one field here, in its order. */
static void head_read(struct cursor *cursor, struct culex__redis_record *record)
{
    record->state = field_state(cursor);
    record->facts.attempt = field_u32(cursor);
    record->owner = field_name(cursor);
    record->at_ms = field_ms(cursor);
    record->timeout_from_ms = field_ms(cursor);
    record->is_started = field_int(cursor, 1) == 1;
    record->facts.counters.losses = field_u32(cursor);
    record->facts.expires_at_ms = field_ms(cursor);
    record->is_cancel_requested = field_int(cursor, 1) == 1;
    record->facts.counters.failures = field_u32(cursor);
    record->facts.counters.crashes = field_u32(cursor);
    record->facts.counters.crash_streak = field_u32(cursor);
    record->behind = (int)field_int(cursor, CULEX_RUN_LIMITS_MAX + 1);
}

/* The part of the tail that bodies have as well. */
static void body_read(struct cursor *cursor, struct culex__redis_record *record)
{
    record->facts.created_at_ms = field_ms(cursor);
    record->keep_success_ms = field_ms(cursor);
    record->facts.timeout_ms = field_ms(cursor);
    record->facts.counters.attempts_max = field_u32(cursor);
    record->job = field_name(cursor);
    record->keep_failure_ms = field_ms(cursor);
    record->facts.fingerprint = field_hex(cursor);
    record->tags = field_name(cursor);
}

/* The gates of a run, NAME=KEY, joined by ';'; it may be behind one that it has, and no run without
 * limits is. */
static bool limits_are_sound(struct culex__redis_slice limits, int behind)
{
    int count = 0;
    const char *at = limits.text, *end = limits.text + limits.len;
    while (limits.len > 0 && at != NULL) {
        const char *stop = memchr(at, ';', (size_t)(end - at));
        const char *equal = memchr(at, '=', (size_t)((stop != NULL ? stop : end) - at));
        if (equal == NULL || equal == at)
            return false;
        count++;
        at = stop != NULL ? stop + 1 : NULL;
    }
    return (count > 0) == (behind > 0) && behind <= count + 1;
}

static void tail_read(struct cursor *cursor, struct culex__redis_record *record)
{
    body_read(cursor, record);
    record->unique_key = field_name(cursor);
    record->priority = (int)field_int(cursor, 9);
    record->facts.counters.retry_for_ms = field_ms(cursor);
    record->unique_while = (unsigned)field_int(cursor, CULEX_UNIQUE_LIVE);
    record->unique_until_ms = field_ms(cursor);
    record->limits = field_name(cursor);
    if (!cursor->is_bad && !limits_are_sound(record->limits, record->behind))
        cursor->is_bad = true;
}

bool culex__redis_record_parse(const char *text, size_t len, struct culex__redis_record *ret_record)
{
    struct cursor cursor = {.at = text, .end = text + len};
    if (len > CULEX_RECORD_BYTES_MAX)
        return false;
    if (field_int(&cursor, INT64_MAX) != CULEX_RECORD_VERSION || cursor.is_bad)
        return false;
    memset(ret_record, 0, sizeof *ret_record);
    head_read(&cursor, ret_record);
    tail_read(&cursor, ret_record);
    return !cursor.is_bad && cursor.is_over && ret_record->job.len > 0 &&
           ret_record->facts.counters.attempts_max > 0;
}

bool culex__redis_body_parse(const char *body, size_t len, struct culex__redis_record *ret_record,
                             size_t *ret_payload)
{
    const char *end = len == 0 ? NULL : memchr(body, '\n', len);
    if (end == NULL || end - body > CULEX_BODY_HEAD_BYTES_MAX)
        return false;
    struct cursor cursor = {.at = body, .end = end};
    memset(ret_record, 0, sizeof *ret_record);
    body_read(&cursor, ret_record);
    ret_record->state = CULEX_RUN_WAITING;
    *ret_payload = (size_t)(end + 1 - body);
    return !cursor.is_bad && cursor.is_over && ret_record->job.len > 0 &&
           ret_record->facts.counters.attempts_max > 0;
}
