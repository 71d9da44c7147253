/* handler/errand_metadata.h - METADATA and METADATA_SET as errands: how they are written and read.
 *
 * Behind the errand's head, whose id is that of the run that sets it, stand this, the job with its
 * NUL, and the bytes. The answer to METADATA is a struct culex_errand_kept and the bytes. */
#ifndef CULEX_HANDLER_ERRAND_METADATA_H
#define CULEX_HANDLER_ERRAND_METADATA_H

#include "handler/errand_run.h"

struct culex_errand_metadata {
    uint64_t before, version;
    uint32_t attempt;
    uint32_t job_len, len;
    char session[CULEX_STORE_SESSION_MAX + 1]; /* "": it is no run's */
};

struct culex_errand_kept {
    uint64_t version; /* 0: nothing is kept */
    int64_t set_ms, now_ms;
    uint32_t len;
};

culex_status culex__errand_metadata_append(culex_buf *errand, const struct culex_metadata_set *set);

/* The texts stay in the errand, the session in `record`. False for what cannot be read. */
bool culex__errand_metadata_take(struct culex_errand_reader *reader, const culex_uuid *id,
                                 struct culex_errand_metadata *record,
                                 struct culex_holder *ret_holder,
                                 struct culex_metadata_set *ret_set);

#endif
