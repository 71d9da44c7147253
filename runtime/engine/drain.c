/* engine/drain.c - what keeps a drain from its end: runs that nobody here can execute. */
#include "engine/worker_private.h"

#include <stdio.h>
#include <string.h>

enum { PAGE = 500 };

static void left_add(struct culex_left *left, const char *job)
{
    if (left->count++ == 0)
        snprintf(left->job, sizeof left->job, "%s", job);
    else if (strcmp(left->job, job) != 0)
        left->has_others = true;
}

/* False when the page has something to wait for. */
static bool page_look(const culex_worker *worker, const struct culex_list_reply *page,
                      struct culex_left *left)
{
    for (size_t i = 0; i < page->count; i++) {
        const culex_run_info *run = &page->runs[i];
        if (run->state == CULEX_RUN_ACTIVE || culex__worker_job_find(worker, run->job) != NULL)
            return false;
        left_add(left, run->job);
    }
    return true;
}

static bool state_look(const struct culex_lane *lane, culex_run_state state,
                       struct culex_left *left)
{
    const culex_worker *worker = lane->worker;
    struct culex_backend *store = worker->backend;
    uint64_t cursor = 0;
    bool is_stuck;
    do {
        struct culex_list_reply page = {0};
        if (store->ops->list(store, lane->name, state, cursor, PAGE, &page, NULL) != CULEX_OK)
            return false;
        is_stuck = page_look(worker, &page, left);
        cursor = page.cursor;
        store->ops->list_release(store, &page);
    } while (is_stuck && cursor != 0);
    return is_stuck;
}

bool culex__drain_is_stuck(const culex_worker *worker, struct culex_left *ret_left)
{
    static const culex_run_state states[] = {CULEX_RUN_ACTIVE, CULEX_RUN_WAITING,
                                             CULEX_RUN_SCHEDULED};
    *ret_left = (struct culex_left){0};
    for (size_t i = 0; i < worker->lane_count; i++) {
        for (size_t k = 0; k < 3 && !worker->lanes[i].is_empty; k++) {
            if (!state_look(&worker->lanes[i], states[k], ret_left))
                return false;
        }
    }
    return ret_left->count > 0;
}
