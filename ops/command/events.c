/* ops/command/events.c - culex events. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <culex/events.h>

#include "command/command.h"
#include "command/print.h"
#include "command/value.h"

static void event_json(const culex_event *event)
{
    static const culex_uuid none;
    struct ops_json json = {.out = stdout};
    char position[24];
    snprintf(position, sizeof position, "%" PRIu64, event->position);
    ops_json_object(&json, NULL);
    ops_json_text(&json, "position", position); /* too wide for a number of JavaScript */
    ops_json_text(&json, "event", culex_events_kind_name(event->kind));
    if (memcmp(&event->id, &none, sizeof none) != 0)
        ops_json_id(&json, "id", event->id);
    ops_json_count(&json, "attempt", event->attempt);
    ops_json_count(&json, "count", event->count);
    ops_json_int(&json, "at_ms", event->at_ms);
    ops_json_text(&json, "job", event->job);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

static void event_print(const culex_event *event)
{
    static const culex_uuid none;
    char at[OPS_TIME_SIZE], id[CULEX_UUID_TEXT_SIZE] = "";
    if (memcmp(&event->id, &none, sizeof none) != 0)
        culex_uuid_format(event->id, id);
    printf("%20" PRIu64 "  %s  %-9s", event->position, ops_time_format(event->at_ms, at),
           culex_events_kind_name(event->kind));
    if (id[0] != '\0')
        printf("  %s", id);
    if (event->attempt > 0)
        printf("  attempt %" PRIu32, event->attempt);
    if (event->count > 0)
        printf("  %" PRIu32 " runs", event->count);
    if (event->job[0] != '\0') {
        fputs("  ", stdout);
        ops_print_text(stdout, event->job, strlen(event->job), false, 0);
    }
    putchar('\n');
}

/* Said where it is, and so in the order of what is there. */
static void gap_print(bool is_json)
{
    if (is_json)
        puts("{\"event\":\"gap\"}");
    else
        puts("                   -  some are missing: they are no more kept");
}

static void page_print(const struct ops *ops, const culex_events *page)
{
    if (page->is_gap)
        gap_print(ops->options.wants_json);
    for (size_t i = 0; i < page->count; i++) {
        if (ops->options.wants_json)
            event_json(&page->of[i]);
        else
            event_print(&page->of[i]);
    }
    fflush(stdout);
}

static culex_status place_read(const struct ops *ops, uint64_t *ret_position, culex_error *error)
{
    const char *from = ops->options.from;
    *ret_position = CULEX_EVENTS_OLDEST;
    if (from == NULL || strcmp(from, "oldest") == 0)
        return CULEX_OK;
    if (strcmp(from, "now") == 0) {
        *ret_position = CULEX_EVENTS_NOW;
        return CULEX_OK;
    }
    char *end;
    errno = 0;
    *ret_position = strtoull(from, &end, 10);
    return from[0] >= '1' && from[0] <= '9' && *end == '\0' && errno == 0 &&
                   *ret_position != CULEX_EVENTS_NOW
               ? CULEX_OK
               : ops_usage(error, "--from: %s is neither oldest, now nor a position", from);
}

static culex_status events_print(struct ops *ops, uint64_t position, culex_error *error)
{
    uint64_t left = ops_is_given(&ops->options, "limit") ? ops->options.limit : UINT64_MAX;
    bool is_over = false;
    while (!is_over && left > 0 && !ferror(stdout)) {
        culex_events *page = NULL;
        size_t most = left < CULEX_EVENTS_PAGE_MAX ? (size_t)left : CULEX_EVENTS_PAGE_MAX;
        culex_status status =
            culex_client_events(ops->client, ops->arguments[0], position, most,
                                ops->options.is_following ? 2 * CULEX_SECOND : 0, &page, error);
        if (status != CULEX_OK)
            return status;
        if (page->kept == 0) {
            culex_events_free(page);
            return ops_fail(error, CULEX_ESTATE,
                            "queue %s keeps no events: culex events %s --keep 10000 has it do so",
                            ops->arguments[0], ops->arguments[0]);
        }
        page_print(ops, page);
        is_over = page->count == 0 && !ops->options.is_following;
        left -= page->count;
        position = page->position;
        culex_events_free(page);
    }
    return CULEX_OK;
}

culex_status ops_events(struct ops *ops, culex_error *error)
{
    uint64_t position;
    culex_status status = place_read(ops, &position, error);
    if (status == CULEX_OK && ops_is_given(&ops->options, "limit") && ops->options.limit == 0)
        return ops_usage(error, "--limit: 0 events are none");
    if (status != CULEX_OK || !ops_is_given(&ops->options, "keep"))
        return status == CULEX_OK ? events_print(ops, position, error) : status;
    status = culex_client_events_keep(ops->client, ops->arguments[0], ops->options.keep, error);
    if (status != CULEX_OK)
        return status;
    if (!ops->options.is_following) {
        printf(ops->options.wants_json ? "{\"kept\":%" PRIu64 "}\n" : "keeps %" PRIu64 " events\n",
               ops->options.keep);
        return CULEX_OK;
    }
    return events_print(ops, position, error);
}
