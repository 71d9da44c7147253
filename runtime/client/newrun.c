#include "client/newrun.h"

#include <assert.h>
#include <string.h>

#include "core/box.h"
#include "base/error.h"
#include "core/needs.h"
#include "core/record_text.h"

/* They take the place of one limit more. */
static culex_status needs_check(const culex_job_type *type, culex_error *error)
{
    bool is_good = type->need_count <= CULEX_NEEDS_MAX &&
                   (type->need_count == 0 || type->limit_count < CULEX_RUN_LIMITS_MAX);
    for (size_t i = 0; i < type->need_count && is_good; i++) {
        const culex_need *need = &type->needs[i];
        is_good = culex__need_name_is_valid(need->name, strlen(need->name)) && need->units >= 1 &&
                  need->units <= CULEX_NEED_UNITS_MAX &&
                  (i == 0 || strcmp(type->needs[i - 1].name, need->name) < 0);
    }
    return is_good ? CULEX_OK
                   : culex__fail(error, CULEX_EINVAL,
                                 "the job's descriptor needs what no worker can offer");
}

culex_status culex__job_type_check(const culex_job_type *type, culex_error *error)
{
    if (type == NULL)
        return culex__fail(error, CULEX_EINVAL, "no job type");
    if (type->descriptor_version != CULEX_DESCRIPTOR_VERSION)
        return culex__fail(error, CULEX_EVERSION,
                           "the job's code was generated for descriptor version %u, this library "
                           "has %d: generate it again",
                           type->descriptor_version, CULEX_DESCRIPTOR_VERSION);
    if (type->name == NULL || type->wire == NULL || type->params == NULL)
        return culex__fail(error, CULEX_EINVAL, "the job's descriptor is incomplete");
    if (type->limit_count > CULEX_RUN_LIMITS_MAX)
        return culex__fail(error, CULEX_EINVAL, "the job's descriptor has %zu limits, more than %d",
                           type->limit_count, CULEX_RUN_LIMITS_MAX);
    return needs_check(type, error);
}

const char *culex__job_queue(const culex_job_type *type)
{
    return type->queue != NULL ? type->queue : type->wire;
}

static bool tag_is_valid(const char *tag, size_t len)
{
    return len > 0 && len <= CULEX_TAG_MAX && culex__record_text_is_valid(tag, len) &&
           memchr(tag, ',', len) == NULL;
}

culex_status culex__tags_join(const char *const *tags, size_t count, char ret_text[CULEX_TAGS_SIZE],
                              culex_error *error)
{
    size_t at = 0;
    if (tags == NULL && count > 0)
        return culex__fail(error, CULEX_EINVAL, "a tag_count of %zu, and no tags", count);
    if (count > CULEX_TAGS_MAX)
        return culex__fail(error, CULEX_ELIMIT, "a run has at most %d tags, not %zu",
                           CULEX_TAGS_MAX, count);
    for (size_t i = 0; i < count; i++) {
        size_t len = tags[i] != NULL ? strnlen(tags[i], CULEX_TAG_MAX + 1) : 0;
        if (!tag_is_valid(tags[i], len))
            return culex__fail(error, CULEX_EINVAL,
                               "tag %zu: 1 to %d bytes of UTF-8 without ',', '|' and control "
                               "characters",
                               i + 1, CULEX_TAG_MAX);
        if (i > 0)
            ret_text[at++] = ',';
        assert(tags[i] != NULL); /* or it would have no bytes */
        memcpy(ret_text + at, tags[i], len);
        at += len;
    }
    ret_text[at] = '\0';
    return CULEX_OK;
}

struct culex_new_run culex__new_run_make(const culex_job_type *type)
{
    return (struct culex_new_run){
        .job = type->wire,
        .priority = type->priority,
        .attempts_max = type->retry.max < UINT32_MAX ? type->retry.max + 1 : UINT32_MAX,
        .expires_ms = type->expires_ms,
        .retry_for_ms = type->retry.for_ms,
        .timeout_ms = type->timeout_ms,
        .keep_success_ms = type->keep_success_ms,
        .keep_failure_ms = type->keep_failure_ms,
        .fingerprint = type->fingerprint,
        .unique_key = "",
        .unique_while = type->unique.while_states,
        .unique_for_ms = type->unique.for_ms,
        .unique_replaces = type->unique.on_conflict == CULEX_ON_CONFLICT_REPLACE,
        .unique_refuses = type->unique.on_conflict == CULEX_ON_CONFLICT_ERROR,
        .tags = "",
    };
}

static uint64_t hash_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_bytes(uint64_t hash, const unsigned char *at, size_t len)
{
    hash = hash_mix(hash, len);
    for (; len > 0; at += len < 8 ? len : 8, len -= len < 8 ? len : 8) {
        uint64_t word = 0;
        for (size_t i = 0; i < 8 && i < len; i++)
            word |= (uint64_t)at[i] << 8 * i;
        hash = hash_mix(hash, word);
    }
    return hash;
}

static uint64_t hash_job(const char *job)
{
    return hash_bytes(UINT64_C(0xc75f6f2c1d9a4e83), (const unsigned char *)job, strlen(job));
}

uint64_t culex__content_hash(const char *job, const void *payload, size_t len)
{
    uint64_t hash = hash_bytes(hash_job(job), payload, len);
    return hash_mix(hash, hash >> 32);
}

uint64_t culex__sealed_content_hash(const char *job, const void *payload, size_t len)
{
    /* No string of a payload has these bytes: its quotes are escaped. */
    static const char head[] = "{\"" CULEX_BOX_NAME "\":\"";
    uint64_t hash = hash_job(job);
    const char *at = payload;
    for (const char *end = at + len; at < end;) {
        const char *box = memmem(at, (size_t)(end - at), head, strlen(head));
        const char *stop = box != NULL ? box + strlen(head) : end;
        hash = hash_bytes(hash, (const unsigned char *)at, (size_t)(stop - at));
        const char *quote = box != NULL ? memchr(stop, '"', (size_t)(end - stop)) : NULL;
        at = quote != NULL ? quote : stop;
    }
    return hash_mix(hash, hash >> 32);
}
