#include "command/history.h"

#include <stdlib.h>
#include <string.h>

#include "command/print.h"

static void moment_add(struct ops_history *history, const culex_event *event)
{
    history->of = ops_alloc(history->of, (history->count + 1) * sizeof *history->of);
    history->of[history->count++] = (struct ops_moment){event->kind, event->attempt, event->at_ms};
    history->is_whole |= event->kind == CULEX_EVENTS_ENQUEUED;
}

static void page_take(const culex_events *page, culex_uuid id, struct ops_history *history)
{
    history->kept = page->kept;
    for (size_t i = 0; i < page->count; i++) {
        if (memcmp(&page->of[i].id, &id, sizeof id) == 0)
            moment_add(history, &page->of[i]);
    }
}

culex_status ops_history_read(struct ops *ops, const struct ops_run *run,
                              struct ops_history *ret_history, culex_error *error)
{
    uint64_t position = CULEX_EVENTS_OLDEST;
    size_t looked = 0, count;
    *ret_history = (struct ops_history){.of = NULL};
    do {
        culex_events *page = NULL;
        culex_status status = culex_client_events(ops->client, run->queue, position,
                                                  CULEX_EVENTS_PAGE_MAX, 0, &page, error);
        if (status != CULEX_OK)
            return status;
        page_take(page, run->id, ret_history);
        position = page->position;
        count = page->count;
        looked += count;
        culex_events_free(page);
    } while (count > 0 && looked < CULEX_EVENTS_KEPT_MAX); /* they come meanwhile */
    return CULEX_OK;
}

void ops_history_free(struct ops_history *history)
{
    free(history->of);
    *history = (struct ops_history){.of = NULL};
}
