#include "store/template.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "core/number.h"

/* ORDER TEMPLATE: as written and read. */
enum {
    VERSION,
    PRIORITY,
    ATTEMPTS,
    EXPIRES,
    RETRY_FOR,
    TIMEOUT,
    KEEP_SUCCESS,
    KEEP_FAILURE,
    FINGERPRINT,
    CONTENT,
    UNIQUE_WHILE,
    UNIQUE_FOR,
    UNIQUE_REPLACES,
    LIMITS,
    NUMBERS
};

/* ORDER TEMPLATE LIMIT: the same of each limit. */
enum { LIMIT_KIND, LIMIT_COUNT, LIMIT_PER, LIMIT_BURST, LIMIT_NUMBERS };

#define TEMPLATE_VERSION 1

static const char *text_of(const char *text)
{
    return text != NULL ? text : "";
}

static bool numbers_append(culex_buf *out, const int64_t *numbers, size_t count)
{
    char text[24];
    bool is_done = true;
    for (size_t i = 0; i < count; i++) {
        int len = snprintf(text, sizeof text, "%" PRId64, numbers[i]);
        is_done = is_done && culex__buf_append(out, text, (size_t)len + 1) == CULEX_OK;
    }
    return is_done;
}

static bool texts_append(culex_buf *out, const char *const *texts, size_t count)
{
    bool is_done = true;
    for (size_t i = 0; i < count; i++)
        is_done = is_done && culex__buf_append(out, texts[i], strlen(texts[i]) + 1) == CULEX_OK;
    return is_done;
}

static bool limit_append(culex_buf *out, const struct culex_run_limit *limit)
{
    const int64_t numbers[LIMIT_NUMBERS] = {limit->kind, limit->count, limit->per_ms, limit->burst};
    const char *const texts[] = {text_of(limit->name), text_of(limit->key)};
    return numbers_append(out, numbers, LIMIT_NUMBERS) && texts_append(out, texts, 2);
}

culex_status culex__template_write(const struct culex_new_run *run, culex_buf *out,
                                   culex_error *error)
{
    const int64_t numbers[NUMBERS] = {TEMPLATE_VERSION,          run->priority,
                                      run->attempts_max,         run->expires_ms,
                                      run->retry_for_ms,         run->timeout_ms,
                                      run->keep_success_ms,      run->keep_failure_ms,
                                      (int64_t)run->fingerprint, (int64_t)run->content,
                                      run->unique_while,         run->unique_for_ms,
                                      run->unique_replaces,      (int64_t)run->limit_count};
    const char *const texts[] = {text_of(run->job), text_of(run->unique_key), text_of(run->tags)};
    bool is_done = numbers_append(out, numbers, NUMBERS) &&
                   texts_append(out, texts, sizeof texts / sizeof *texts);
    for (size_t i = 0; i < run->limit_count && is_done; i++)
        is_done = limit_append(out, &run->limits[i]);
    is_done = is_done && culex__buf_append(out, run->payload, run->payload_len) == CULEX_OK;
    return is_done ? CULEX_OK
                   : culex__fail(error, CULEX_ENOMEM, "no memory for the template of a run");
}

struct cursor {
    const char *at, *end;
    bool is_bad;
};

/* Up to the next zero byte, which it ends with; "" when there is none. */
static const char *text_take(struct cursor *cursor)
{
    const char *text = cursor->at;
    const char *zero = memchr(text, '\0', (size_t)(cursor->end - text));
    if (zero == NULL) {
        cursor->is_bad = true;
        return "";
    }
    cursor->at = zero + 1;
    return text;
}

static int64_t number_take(struct cursor *cursor)
{
    int64_t value = 0;
    const char *text = text_take(cursor);
    if (!culex__int64_parse(text, strlen(text), &value))
        cursor->is_bad = true;
    return value;
}

static void numbers_take(struct cursor *cursor, int64_t *ret_numbers, size_t count)
{
    for (size_t i = 0; i < count && !cursor->is_bad; i++)
        ret_numbers[i] = number_take(cursor);
}

static uint32_t count_of(struct cursor *cursor, int64_t number)
{
    if (number < 0 || number > UINT32_MAX)
        cursor->is_bad = true;
    return (uint32_t)number;
}

static void limit_take(struct cursor *cursor, struct culex_run_limit *ret_limit)
{
    int64_t numbers[LIMIT_NUMBERS] = {0};
    numbers_take(cursor, numbers, LIMIT_NUMBERS);
    if (numbers[LIMIT_KIND] < 0 || numbers[LIMIT_KIND] > CULEX_LIMIT_NEEDS)
        cursor->is_bad = true;
    *ret_limit = (struct culex_run_limit){.kind = (enum culex_limit_kind)numbers[LIMIT_KIND],
                                          .count = count_of(cursor, numbers[LIMIT_COUNT]),
                                          .per_ms = numbers[LIMIT_PER],
                                          .burst = count_of(cursor, numbers[LIMIT_BURST])};
    ret_limit->name = text_take(cursor);
    ret_limit->key = text_take(cursor);
}

culex_status culex__template_read(const void *bytes, size_t len,
                                  struct culex_run_limit ret_limits[CULEX_RUN_LIMITS_MAX],
                                  struct culex_new_run *ret_run, culex_error *error)
{
    struct cursor cursor = {bytes, len > 0 ? (const char *)bytes + len : bytes, len == 0};
    int64_t numbers[NUMBERS] = {0};
    numbers_take(&cursor, numbers, NUMBERS);
    if (cursor.is_bad || numbers[VERSION] != TEMPLATE_VERSION || numbers[PRIORITY] < 0 ||
        numbers[PRIORITY] > CULEX_PRIORITY_MAX || numbers[ATTEMPTS] < 1 ||
        numbers[ATTEMPTS] > UINT32_MAX || numbers[UNIQUE_WHILE] < 0 ||
        numbers[UNIQUE_WHILE] > UINT32_MAX || numbers[LIMITS] < 0 ||
        numbers[LIMITS] > CULEX_RUN_LIMITS_MAX)
        return culex__fail(error, CULEX_ECORRUPT, "the template of a periodic run is damaged");
    *ret_run = (struct culex_new_run){.priority = (int)numbers[PRIORITY],
                                      .attempts_max = (uint32_t)numbers[ATTEMPTS],
                                      .expires_ms = numbers[EXPIRES],
                                      .retry_for_ms = numbers[RETRY_FOR],
                                      .timeout_ms = numbers[TIMEOUT],
                                      .keep_success_ms = numbers[KEEP_SUCCESS],
                                      .keep_failure_ms = numbers[KEEP_FAILURE],
                                      .fingerprint = (uint64_t)numbers[FINGERPRINT],
                                      .content = (uint64_t)numbers[CONTENT],
                                      .unique_while = (unsigned)numbers[UNIQUE_WHILE],
                                      .unique_for_ms = numbers[UNIQUE_FOR],
                                      .unique_replaces = numbers[UNIQUE_REPLACES] != 0,
                                      .limits = ret_limits,
                                      .limit_count = (size_t)numbers[LIMITS]};
    ret_run->job = text_take(&cursor);
    ret_run->unique_key = text_take(&cursor);
    ret_run->tags = text_take(&cursor);
    for (size_t i = 0; i < ret_run->limit_count; i++)
        limit_take(&cursor, &ret_limits[i]);
    ret_run->payload = cursor.at;
    ret_run->payload_len = (size_t)(cursor.end - cursor.at);
    return cursor.is_bad
               ? culex__fail(error, CULEX_ECORRUPT, "the template of a periodic run is damaged")
               : CULEX_OK;
}
