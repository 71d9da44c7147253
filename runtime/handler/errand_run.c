#include "handler/errand_run.h"

#include <string.h>

#include "base/buf.h"
#include "client/newrun.h"
#include "core/record_text.h"

/* --- writing ------------------------------------------------------------------------------ */

static uint32_t text_len(const char *text)
{
    return text != NULL ? (uint32_t)strlen(text) : 0;
}

static culex_status text_append(culex_buf *errand, const char *text, uint32_t len)
{
    return culex__buf_append(errand, text != NULL ? text : "", (size_t)len + 1);
}

static culex_status limits_append(culex_buf *errand, const struct culex_new_run *run)
{
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < run->limit_count && status == CULEX_OK; i++) {
        const struct culex_run_limit *limit = &run->limits[i];
        struct culex_errand_limit record;
        memset(&record, 0, sizeof record);
        record.limit = *limit;
        record.limit.name = record.limit.key = NULL;
        record.name_len = text_len(limit->name);
        record.key_len = text_len(limit->key);
        status = culex__buf_append(errand, &record, sizeof record);
        if (status == CULEX_OK)
            status = text_append(errand, limit->name, record.name_len);
        if (status == CULEX_OK)
            status = text_append(errand, limit->key, record.key_len);
    }
    return status;
}

culex_status culex__errand_run_append(culex_buf *errand, const struct culex_new_run *run)
{
    struct culex_errand_run record;
    memset(&record, 0, sizeof record);
    record.run = *run;
    record.run.job = record.run.unique_key = record.run.idempotency_key = record.run.tags = NULL;
    record.run.payload = NULL;
    record.run.limits = NULL;
    record.job_len = text_len(run->job);
    record.unique_len = text_len(run->unique_key);
    record.idempotency_len = text_len(run->idempotency_key);
    record.tags_len = text_len(run->tags);
    culex_status status = culex__buf_append(errand, &record, sizeof record);
    if (status == CULEX_OK)
        status = text_append(errand, run->job, record.job_len);
    if (status == CULEX_OK)
        status = text_append(errand, run->unique_key, record.unique_len);
    if (status == CULEX_OK)
        status = text_append(errand, run->idempotency_key, record.idempotency_len);
    if (status == CULEX_OK)
        status = text_append(errand, run->tags, record.tags_len);
    if (status == CULEX_OK)
        status = limits_append(errand, run);
    if (status == CULEX_OK && run->payload_len > 0)
        status = culex__buf_append(errand, run->payload, run->payload_len);
    return status;
}

/* --- reading ------------------------------------------------------------------------------ */

/* Numbers that every store can count with. */
#define NUMBER_MAX (INT64_C(1) << 53)

const char *culex__errand_take(struct culex_errand_reader *reader, size_t len)
{
    const char *at = reader->at;
    if (len > reader->left) {
        reader->is_short = true;
        reader->left = 0;
        return NULL;
    }
    reader->at += len;
    reader->left -= len;
    return at;
}

void culex__errand_copy(struct culex_errand_reader *reader, void *ret_bytes, size_t len)
{
    const char *at = culex__errand_take(reader, len);
    if (at != NULL)
        memcpy(ret_bytes, at, len);
    else
        memset(ret_bytes, 0, len);
}

/* A text of at most `max` bytes and its NUL; NULL when that is not what stands there. */
static const char *text_take(struct culex_errand_reader *reader, size_t len, size_t max)
{
    const char *text = len <= max ? culex__errand_take(reader, len + 1) : NULL;
    return text != NULL && text[len] == '\0' && culex__record_text_is_valid(text, len) ? text
                                                                                       : NULL;
}

/* An idempotency key may hold '|' as well: it is no field of a record. The store looks at the
 * rest. */
static const char *key_take(struct culex_errand_reader *reader, size_t len)
{
    const char *key =
        len <= CULEX_STORE_IDEMPOTENCY_MAX ? culex__errand_take(reader, len + 1) : NULL;
    return key != NULL && key[len] == '\0' && strlen(key) == len ? key : NULL;
}

static bool number_is_sane(int64_t number)
{
    return number >= 0 && number <= NUMBER_MAX;
}

/* A flag of damaged memory may be neither. */
static bool flag_is_sane(const bool *flag)
{
    unsigned char byte;
    memcpy(&byte, flag, sizeof byte);
    return byte <= 1;
}

static bool policy_is_sane(const struct culex_new_run *run)
{
    return run->priority >= 0 && run->priority <= CULEX_PRIORITY_MAX && run->attempts_max > 0 &&
           number_is_sane(run->delay_ms) && number_is_sane(run->at_ms) &&
           number_is_sane(run->expires_ms) && number_is_sane(run->retry_for_ms) &&
           number_is_sane(run->timeout_ms) && number_is_sane(run->keep_success_ms) &&
           number_is_sane(run->keep_failure_ms) && run->window_ms <= CULEX_WINDOW_MAX_MS &&
           number_is_sane(run->unique_for_ms) && flag_is_sane(&run->unique_replaces) &&
           flag_is_sane(&run->unique_refuses) && flag_is_sane(&run->is_bound) &&
           flag_is_sane(&run->has_batch) && run->payload_len <= CULEX_PAYLOAD_MAX;
}

/* The texts stay in the errand. */
static bool limits_take(struct culex_errand_reader *reader, struct culex_run_limit *ret_limits,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct culex_errand_limit record;
        culex__errand_copy(reader, &record, sizeof record);
        ret_limits[i] = record.limit;
        ret_limits[i].name = text_take(reader, record.name_len, CULEX_LIMIT_NAME_MAX);
        ret_limits[i].key = text_take(reader, record.key_len, CULEX_LIMIT_KEY_MAX);
        if (reader->is_short || ret_limits[i].name == NULL || ret_limits[i].key == NULL)
            return false;
    }
    return true;
}

/* The texts and the payload stay in the errand. */
bool culex__errand_run_take(struct culex_errand_reader *reader,
                            struct culex_errand_limits *ret_limits, struct culex_new_run *ret_run)
{
    struct culex_errand_run record;
    culex__errand_copy(reader, &record, sizeof record);
    if (reader->is_short || !policy_is_sane(&record.run) || record.job_len == 0 ||
        record.run.limit_count > CULEX_RUN_LIMITS_MAX)
        return false;
    *ret_run = record.run;
    ret_run->job = text_take(reader, record.job_len, CULEX_JOB_NAME_MAX);
    ret_run->unique_key = text_take(reader, record.unique_len, CULEX_STORE_KEY_MAX);
    ret_run->idempotency_key = key_take(reader, record.idempotency_len);
    ret_run->tags = text_take(reader, record.tags_len, CULEX_TAGS_SIZE - 1);
    ret_run->limits = ret_limits->of;
    if (!limits_take(reader, ret_limits->of, ret_run->limit_count))
        return false;
    ret_run->payload = culex__errand_take(reader, record.run.payload_len);
    return ret_run->job != NULL && ret_run->unique_key != NULL &&
           ret_run->idempotency_key != NULL && ret_run->tags != NULL && ret_run->payload != NULL;
}
