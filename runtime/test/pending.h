/* test/pending.h - the runs that wait for a worker, or for their time. */
#ifndef CULEX_TEST_PENDING_H
#define CULEX_TEST_PENDING_H

#include <culex_test.h>

/* A pending run of one job. */
struct culex_pending_run {
    culex_uuid id;
    char *queue;
};

struct culex_pending {
    struct culex_pending_run *rows;
    size_t count;
};

/* Those of `type`, or for NULL of all jobs. False with a reason; fills it in any case, to be
 * freed. */
bool culex__pending_find(culex_test *test, const culex_job_type *type,
                         struct culex_pending *ret_pending);
void culex__pending_free(struct culex_pending *pending);

/* The whole record, owned by the kit; NULL with a reason. */
const culex_run_info *culex__pending_read(culex_test *test, const char *queue, culex_uuid id);

/* Run `id`, of any state and queue; NULL with a reason. */
const culex_run_info *culex__run_seek(culex_test *test, culex_uuid id);

/* Adds to the reason what is pending of each job. */
void culex__pending_tell(culex_test *test);

#endif
