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
    NUMBERS
};

#define TEMPLATE_VERSION 1

static const char *text_of(const char *text)
{
    return text != NULL ? text : "";
}

culex_status culex__template_write(const struct culex_new_run *run, culex_buf *out,
                                   culex_error *error)
{
    const int64_t numbers[NUMBERS] = {
        TEMPLATE_VERSION,          run->priority,        run->attempts_max,    run->expires_ms,
        run->retry_for_ms,         run->timeout_ms,      run->keep_success_ms, run->keep_failure_ms,
        (int64_t)run->fingerprint, (int64_t)run->content};
    const char *const texts[] = {text_of(run->job), text_of(run->unique_key), text_of(run->tags)};
    bool is_done = true;
    for (size_t i = 0; i < NUMBERS; i++) {
        char text[24];
        int len = snprintf(text, sizeof text, "%" PRId64, numbers[i]);
        is_done = is_done && culex__buf_append(out, text, (size_t)len + 1) == CULEX_OK;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        is_done = is_done && culex__buf_append(out, texts[i], strlen(texts[i]) + 1) == CULEX_OK;
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

culex_status culex__template_read(const void *bytes, size_t len, struct culex_new_run *ret_run,
                                  culex_error *error)
{
    struct cursor cursor = {bytes, len > 0 ? (const char *)bytes + len : bytes, len == 0};
    int64_t numbers[NUMBERS] = {0};
    for (size_t i = 0; i < NUMBERS && !cursor.is_bad; i++)
        numbers[i] = number_take(&cursor);
    if (cursor.is_bad || numbers[VERSION] != TEMPLATE_VERSION || numbers[PRIORITY] < 0 ||
        numbers[PRIORITY] > CULEX_PRIORITY_MAX || numbers[ATTEMPTS] < 1 ||
        numbers[ATTEMPTS] > UINT32_MAX)
        return culex__fail(error, CULEX_ECORRUPT, "the template of a periodic run is damaged");
    *ret_run = (struct culex_new_run){.priority = (int)numbers[PRIORITY],
                                      .attempts_max = (uint32_t)numbers[ATTEMPTS],
                                      .expires_ms = numbers[EXPIRES],
                                      .retry_for_ms = numbers[RETRY_FOR],
                                      .timeout_ms = numbers[TIMEOUT],
                                      .keep_success_ms = numbers[KEEP_SUCCESS],
                                      .keep_failure_ms = numbers[KEEP_FAILURE],
                                      .fingerprint = (uint64_t)numbers[FINGERPRINT],
                                      .content = (uint64_t)numbers[CONTENT]};
    ret_run->job = text_take(&cursor);
    ret_run->unique_key = text_take(&cursor);
    ret_run->tags = text_take(&cursor);
    ret_run->payload = cursor.at;
    ret_run->payload_len = (size_t)(cursor.end - cursor.at);
    return cursor.is_bad
               ? culex__fail(error, CULEX_ECORRUPT, "the template of a periodic run is damaged")
               : CULEX_OK;
}
