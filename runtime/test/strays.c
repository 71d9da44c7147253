#include "test/strays.h"

#include <string.h>

#include "core/end_text.h"
#include "test/kit.h"
#include "test/pending.h"
#include "worker/worker_private.h"

/* It waits for its time, and that is why. */
static bool is_stray(culex_test *test, const struct culex_pending_run *row)
{
    culex_run_info *run = NULL;
    if (culex_client_get(test->observer, row->queue, row->id, &run, NULL) != CULEX_OK)
        return false;
    bool is_stray =
        run->state == CULEX_RUN_SCHEDULED && strcmp(run->error_text, CULEX__UNKNOWN_JOB_TEXT) == 0;
    culex_run_info_free(run);
    return is_stray;
}

void culex__strays_return(culex_test *test)
{
    const culex_move now = {.has_delay = true};
    struct culex_pending pending;
    if (test->worker->tally.counts[CULEX_TALLY_NOT_UNDERSTOOD] == 0)
        return;
    (void)culex__pending_find(test, NULL, &pending);
    for (size_t i = 0; i < pending.count; i++) {
        const struct culex_pending_run *row = &pending.rows[i];
        if (!is_stray(test, row))
            continue;
        culex_status status = culex_client_move(test->observer, row->queue, row->id, &now, NULL);
        (void)status; /* it is due in some seconds then */
    }
    culex__pending_free(&pending);
}
