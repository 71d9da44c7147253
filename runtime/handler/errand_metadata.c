#include "handler/errand_metadata.h"

#include <string.h>

#include "base/limits.h"
#include "core/record_text.h"

culex_status culex__errand_metadata_append(culex_buf *errand, const struct culex_metadata_set *set)
{
    struct culex_errand_metadata record;
    memset(&record, 0, sizeof record);
    record.before = set->before;
    record.version = set->version;
    record.job_len = (uint32_t)strlen(set->job);
    record.len = (uint32_t)set->len;
    if (set->holder != NULL) {
        record.attempt = set->holder->attempt;
        strncpy(record.session, set->holder->session, sizeof record.session - 1);
    }
    culex_status status = culex__buf_append(errand, &record, sizeof record);
    if (status == CULEX_OK)
        status = culex__buf_append(errand, set->job, (size_t)record.job_len + 1);
    if (status == CULEX_OK && set->len > 0)
        status = culex__buf_append(errand, set->bytes, set->len);
    return status;
}

bool culex__errand_metadata_take(struct culex_errand_reader *reader, const culex_uuid *id,
                                 struct culex_errand_metadata *record,
                                 struct culex_holder *ret_holder,
                                 struct culex_metadata_set *ret_set)
{
    culex__errand_copy(reader, record, sizeof *record);
    if (reader->is_short || record->job_len > CULEX_JOB_NAME_MAX ||
        record->len > CULEX_METADATA_BYTES_MAX ||
        record->session[sizeof record->session - 1] != '\0')
        return false;
    *ret_holder = (struct culex_holder){*id, record->attempt, record->session};
    const char *job = culex__errand_take(reader, (size_t)record->job_len + 1);
    *ret_set =
        (struct culex_metadata_set){.job = job,
                                    .before = record->before,
                                    .version = record->version,
                                    .bytes = culex__errand_take(reader, record->len),
                                    .len = record->len,
                                    .holder = record->session[0] != '\0' ? ret_holder : NULL};
    return job != NULL && ret_set->bytes != NULL && job[record->job_len] == '\0' &&
           culex__record_text_is_valid(job, record->job_len);
}
