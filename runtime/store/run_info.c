/* store/run_info.c - how what a store tells of a run is freed. */
#include <stdlib.h>

#include "store/store.h"

void culex__run_info_release(culex_run_info *run)
{
    free(run->job);
    free(run->queue);
    free(run->tags);
    free(run->error_text);
    free(run->progress_text);
    free(run->unique_key);
    free(run->limits);
    free((void *)(uintptr_t)run->payload.data);
    free((void *)(uintptr_t)run->result.data);
}

void culex__run_info_free(culex_run_info *run)
{
    if (run != NULL)
        culex__run_info_release(run);
    free(run);
}
