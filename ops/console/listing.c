/* ops/console/listing.c - /runs and /tags: runs, page by page, of one queue or of all. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/find.h"
#include "command/job_name.h"
#include "command/run_print.h"
#include "command/value.h"
#include "console/body.h"
#include "console/clock.h"
#include "console/cursor.h"
#include "console/query.h"
#include "console/routes.h"

enum { PAGE = 100, PAGE_MAX = 1000, SPAN_MS = 2000 };

struct listing {
    struct request *request;
    culex_list_filter filter;
    const char *only; /* the queue that is asked for; NULL: all */
    size_t most, count;
    int64_t end_ms;       /* a page that took so long is as long as it is */
    struct cursor cursor; /* where the next page begins */
    bool has_begun;       /* with the page before: nothing of it is known */
};

/* ---- what is asked for ------------------------------------------------------------------------
 */

static culex_status times_read(const struct request *request, struct ops_options *options,
                               culex_error *error)
{
    const char *since = request_query(request, "since"), *before = request_query(request, "before");
    culex_status status = CULEX_OK;
    if (since != NULL)
        status = body_blame(ops_value_time("since", since, &options->since, error), "since", error);
    if (status == CULEX_OK && before != NULL)
        status =
            body_blame(ops_value_time("before", before, &options->before, error), "before", error);
    return status;
}

static culex_status filter_read(const struct request *request, culex_list_filter *ret_filter,
                                culex_error *error)
{
    struct ops_options options = {.url = NULL};
    const char *states = request_query(request, "state");
    culex_status status = times_read(request, &options, error);
    if (status == CULEX_OK && states != NULL)
        status =
            body_blame(ops_value_states("state", states, &options.states, error), "state", error);
    *ret_filter = (culex_list_filter){.states = options.states,
                                      .job = request_query(request, "job"),
                                      .error_part = request_query(request, "error"),
                                      .has_since = request_query(request, "since") != NULL,
                                      .since = options.since,
                                      .has_before = request_query(request, "before") != NULL,
                                      .before = options.before};
    return status;
}

/* Where several states are asked for, or other ones, the store has no such order. */
static culex_status order_read(const struct request *request, culex_list_filter *filter,
                               culex_error *error)
{
    const char *order = request_query(request, "order");
    if (order == NULL)
        return CULEX_OK;
    if (strcmp(order, "newest") != 0)
        return body_blame(
            ops_usage(error, "order: newest is one; without it the order is the store's"), "order",
            error);
    if (filter->states != CULEX_LIST_STATE(CULEX_RUN_DEAD) &&
        filter->states != CULEX_LIST_STATE(CULEX_RUN_CANCELLED))
        return body_blame(ops_usage(error, "order: newest goes with state=dead or state=cancelled"),
                          "order", error);
    filter->newest_first = true;
    return CULEX_OK;
}

/* What a cursor belongs to: the words of the request, for "2h" is another time in the next one. */
static uint64_t question_mark(const struct listing *listing)
{
    static const char *const names[] = {"queue", "state", "job",    "tag",
                                        "error", "since", "before", "order"};
    uint64_t mark = cursor_mark(listing->request->console->mark, listing->filter.tag);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        mark = cursor_mark(mark, request_query(listing->request, names[i]));
    return mark;
}

static culex_status cursor_take(struct listing *listing, culex_error *error)
{
    const char *text = request_query(listing->request, "cursor");
    listing->has_begun = text != NULL;
    return text != NULL
               ? body_blame(cursor_read(text, question_mark(listing), &listing->cursor, error),
                            "cursor", error)
               : CULEX_OK;
}

/* ---- runs -------------------------------------------------------------------------------------
 */

static bool run_add(const culex_run_info *run, void *user)
{
    struct listing *listing = user;
    struct ops_json *json = &listing->request->json;
    ops_json_object(json, NULL);
    ops_run_json(json, run);
    ops_json_object_end(json);
    listing->count++;
    return true;
}

static bool is_full(const struct listing *listing)
{
    return listing->count >= listing->most || ms_now() > listing->end_ms ||
           atomic_load(&listing->request->console->is_ending);
}

static culex_status runs_find(struct listing *listing, const culex_list_filter *filter,
                              culex_error *error)
{
    culex_status status;
    struct cursor *cursor = &listing->cursor;
    do
        status =
            culex_client_find(listing->request->ops.client, cursor->queue, filter, &cursor->place,
                              listing->most - listing->count, run_add, listing, error);
    while (status == CULEX_OK && cursor->place.place != 0 && !is_full(listing));
    return status;
}

/* Each queue knows by itself which job is meant by a name without its package. */
static culex_status queue_list(struct listing *listing, culex_error *error)
{
    culex_list_filter filter = listing->filter;
    char *stored = NULL;
    bool is_sure;
    culex_status status = CULEX_OK;
    if (filter.job != NULL)
        status = body_blame(ops_job_name_read(&listing->request->ops, listing->cursor.queue,
                                              filter.job, false, &stored, &is_sure, error),
                            "job", error);
    if (stored != NULL)
        filter.job = stored;
    if (status == CULEX_OK)
        status = runs_find(listing, &filter, error);
    free(stored);
    return status;
}

/* From the queue of the cursor on. One that is deleted meanwhile has nothing to list. */
static culex_status queues_list(struct listing *listing, const struct ops_names *names,
                                culex_error *error)
{
    culex_status status = CULEX_OK;
    struct cursor *cursor = &listing->cursor;
    for (size_t i = 0; i < names->count && status == CULEX_OK; i++) {
        int order = strcmp(names->of[i], cursor->queue);
        if (order < 0)
            continue;
        if (order > 0) {
            cursor->place = (culex_list_cursor){.place = 0};
            snprintf(cursor->queue, sizeof cursor->queue, "%s", names->of[i]);
        }
        if (is_full(listing))
            return CULEX_OK;
        status = queue_list(listing, error);
        status = status == CULEX_ENOTFOUND ? CULEX_OK : status;
        if (cursor->place.place != 0)
            return status;
    }
    cursor->queue[0] = '\0';
    return status;
}

static culex_status all_list(struct listing *listing, culex_error *error)
{
    struct ops_names names = {.of = NULL};
    culex_status status = ops_names_read(&listing->request->ops, &names, error);
    if (status == CULEX_OK)
        status = queues_list(listing, &names, error);
    ops_names_free(&names);
    return status;
}

static culex_status one_list(struct listing *listing, culex_error *error)
{
    struct cursor *cursor = &listing->cursor;
    snprintf(cursor->queue, sizeof cursor->queue, "%s", listing->only);
    culex_status status = queue_list(listing, error);
    if (cursor->place.place == 0)
        cursor->queue[0] = '\0';
    return status;
}

/* Nothing at all of a job: that may be so, or it is called otherwise. */
static culex_status job_check(struct listing *listing, culex_error *error)
{
    struct ops *ops = &listing->request->ops;
    struct ops_names names = {.of = NULL};
    const char *job = listing->filter.job, *const one[] = {listing->only};
    culex_status status = CULEX_OK;
    if (job == NULL || listing->count > 0 || listing->has_begun || listing->cursor.queue[0] != '\0')
        return CULEX_OK;
    if (listing->only == NULL)
        status = ops_names_read(ops, &names, error);
    const char *const *queues = listing->only != NULL ? one : (const char *const *)names.of;
    if (status == CULEX_OK)
        status = body_blame(
            ops_job_name_check(ops, queues, listing->only != NULL ? 1 : names.count, job, error),
            "job", error);
    ops_names_free(&names);
    return status;
}

static culex_status listing_tell(struct listing *listing, culex_error *error)
{
    struct ops_json *json = &listing->request->json;
    char text[CURSOR_SIZE];
    ops_json_object(json, NULL);
    ops_json_array(json, "runs");
    culex_status status =
        listing->only != NULL ? one_list(listing, error) : all_list(listing, error);
    if (status == CULEX_OK)
        status = job_check(listing, error);
    ops_json_array_end(json);
    if (status == CULEX_OK && listing->cursor.queue[0] != '\0')
        ops_json_text(json, "next_cursor",
                      cursor_format(&listing->cursor, question_mark(listing), text));
    ops_json_object_end(json);
    ops_json_line_end(json);
    return status;
}

static culex_status runs_tell(struct request *request, const char *tag, culex_error *error)
{
    struct listing listing = {.request = request, .end_ms = ms_now() + SPAN_MS};
    uint64_t most = PAGE;
    culex_status status = query_count(request, "limit", PAGE_MAX, &most, error);
    listing.most = (size_t)most;
    if (status == CULEX_OK)
        status = query_queue(request, &listing.only, error);
    if (status == CULEX_OK)
        status = filter_read(request, &listing.filter, error);
    if (status == CULEX_OK)
        status = order_read(request, &listing.filter, error);
    listing.filter.tag = tag;
    if (status == CULEX_OK)
        status = cursor_take(&listing, error);
    return status == CULEX_OK ? listing_tell(&listing, error) : status;
}

culex_status route_runs(struct request *request, culex_error *error)
{
    return runs_tell(request, request_query(request, "tag"), error);
}

culex_status route_tag(struct request *request, culex_error *error)
{
    return runs_tell(request, request->parts[0], error);
}

/* ---- tags -------------------------------------------------------------------------------------
 */

enum { TAGS_MAX = 1000, LOOKED_AT = 10000 };

struct tag_count {
    char *text; /* owned */
    uint64_t runs;
};

struct tags {
    struct tag_count of[TAGS_MAX];
    size_t count, looked_at;
    bool is_cut; /* there may be more */
};

static void tag_add(struct tags *tags, const char *text, size_t len)
{
    for (size_t i = 0; i < tags->count; i++) {
        if (strlen(tags->of[i].text) == len && memcmp(tags->of[i].text, text, len) == 0) {
            tags->of[i].runs++;
            return;
        }
    }
    if (tags->count == TAGS_MAX) {
        tags->is_cut = true;
        return;
    }
    tags->of[tags->count++] = (struct tag_count){ops_copy(text, len), 1};
}

static bool tags_see(const culex_run_info *run, void *user)
{
    struct tags *tags = user;
    for (const char *at = run->tags; *at != '\0';) {
        size_t len = strcspn(at, ",");
        tag_add(tags, at, len);
        at += len + (at[len] == ',');
    }
    tags->looked_at++;
    tags->is_cut |= tags->looked_at >= LOOKED_AT;
    return tags->looked_at < LOOKED_AT;
}

static culex_status queue_see(struct request *request, const char *queue, struct tags *tags,
                              culex_error *error)
{
    culex_list_cursor cursor = {.place = 0};
    culex_status status;
    do
        status =
            culex_client_find(request->ops.client, queue, NULL, &cursor, 0, tags_see, tags, error);
    while (status == CULEX_OK && cursor.place != 0 && tags->looked_at < LOOKED_AT);
    return status;
}

static culex_status tags_count(struct request *request, struct tags *tags, culex_error *error)
{
    const char *only;
    struct ops_names names = {.of = NULL};
    culex_status status = query_queue(request, &only, error);
    if (status != CULEX_OK || only != NULL)
        return status == CULEX_OK ? queue_see(request, only, tags, error) : status;
    status = ops_names_read(&request->ops, &names, error);
    for (size_t i = 0; i < names.count && status == CULEX_OK && tags->looked_at < LOOKED_AT; i++) {
        status = queue_see(request, names.of[i], tags, error);
        if (status == CULEX_ENOTFOUND)
            status = CULEX_OK; /* Redis has the name of a queue before there is one */
    }
    ops_names_free(&names);
    return status;
}

static int tag_order(const void *one, const void *other)
{
    return strcmp(((const struct tag_count *)one)->text, ((const struct tag_count *)other)->text);
}

static void tags_json(struct ops_json *json, struct tags *tags)
{
    qsort(tags->of, tags->count, sizeof tags->of[0], tag_order);
    ops_json_object(json, NULL);
    ops_json_array(json, "tags");
    for (size_t i = 0; i < tags->count; i++) {
        ops_json_object(json, NULL);
        ops_json_text(json, "tag", tags->of[i].text);
        ops_json_count(json, "runs", tags->of[i].runs);
        ops_json_object_end(json);
    }
    ops_json_array_end(json);
    ops_json_count(json, "runs_looked_at", tags->looked_at);
    ops_json_bool(json, "is_complete", !tags->is_cut);
    ops_json_object_end(json);
    ops_json_line_end(json);
}

culex_status route_tags(struct request *request, culex_error *error)
{
    struct tags *tags = ops_alloc(NULL, sizeof *tags);
    memset(tags, 0, sizeof *tags);
    culex_status status = tags_count(request, tags, error);
    if (status == CULEX_OK)
        tags_json(&request->json, tags);
    for (size_t i = 0; i < tags->count; i++)
        free(tags->of[i].text);
    free(tags);
    return status;
}
