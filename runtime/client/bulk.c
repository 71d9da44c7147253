/* client/bulk.c - many runs at once: pages of LIST, and for each run that matches the verb of one.
 */
#include <culex/bulk.h>

#include <string.h>

#include "base/error.h"
#include "store/list_filter.h"

enum { PAGE = 100, LOOKS = 1000 };

struct action {
    const char *name; /* "retried" */
    unsigned states;
    culex_status (*act)(culex_client *client, const char *queue, culex_uuid id, culex_error *error);
};

static culex_status cancel(culex_client *client, const char *queue, culex_uuid id,
                           culex_error *error)
{
    return culex_client_cancel(client, queue, id, NULL, error);
}

#define STATE(name) CULEX_LIST_STATE(CULEX_RUN_##name)
static const struct action actions[] = {
    [CULEX_BULK_RETRY] = {"retried", STATE(DEAD), culex_client_retry},
    [CULEX_BULK_DELETE] = {"deleted", STATE(DONE) | STATE(DEAD) | STATE(CANCELLED),
                           culex_client_delete},
    [CULEX_BULK_CANCEL] = {"cancelled", STATE(SCHEDULED) | STATE(WAITING) | STATE(ACTIVE), cancel},
};
#undef STATE

enum { ACTIONS = sizeof actions / sizeof actions[0] };

/* A call under way. */
struct bulk {
    culex_client *client;
    const char *queue;
    const culex_bulk *wanted;
    const struct action *action;
    culex_bulk_counts counts;
    culex_uuid ids[PAGE]; /* of the page's runs that match */
    size_t id_count;
};

/* --- what is asked for ---------------------------------------------------------------------- */

static culex_status states_check(const culex_bulk *wanted, culex_error *error)
{
    const struct action *action = &actions[wanted->action];
    for (unsigned state = 0; state < CULEX_RUN_STATE_COUNT; state++) {
        unsigned bit = CULEX_LIST_STATE(state);
        if ((wanted->filter.states & bit) != 0 && (action->states & bit) == 0)
            return culex__fail(error, CULEX_EINVAL, "%s runs cannot be %s",
                               culex_run_state_name((culex_run_state)state), action->name);
    }
    return CULEX_OK;
}

static culex_status wanted_check(const culex_bulk *wanted, const culex_bulk_cursor *cursor,
                                 culex_error *error)
{
    if (wanted == NULL)
        return culex__fail(error, CULEX_EINVAL, "nothing is said of what to do");
    if (cursor == NULL)
        return culex__fail(error, CULEX_EINVAL, "no cursor");
    if ((unsigned)wanted->action >= ACTIONS)
        return culex__fail(error, CULEX_EINVAL, "bulk.action is none of culex_bulk_action");
    culex_status status = culex__filter_check(&wanted->filter, error);
    return status == CULEX_OK ? states_check(wanted, error) : status;
}

/* --- which runs match ----------------------------------------------------------------------- */

static bool run_look(const culex_run_info *run, void *user)
{
    struct bulk *bulk = user;
    culex_list_filter filter = bulk->wanted->filter;
    filter.error_part = NULL; /* see errors_look */
    bulk->counts.looked++;
    if (bulk->id_count < PAGE &&
        culex__filter_takes(&filter, run->job, run->tags, NULL, run->created_at_ms))
        bulk->ids[bulk->id_count++] = run->id;
    return true;
}

/* Of the page's runs, whose error texts no listing tells. */
static culex_status errors_look(struct bulk *bulk, culex_error *error)
{
    const char *part = bulk->wanted->filter.error_part;
    culex_status status = CULEX_OK;
    size_t kept = 0;
    for (size_t i = 0; i < bulk->id_count && part != NULL && status == CULEX_OK; i++) {
        culex_run_info *run = NULL;
        culex_error refusal = {0};
        status = culex_client_get(bulk->client, bulk->queue, bulk->ids[i], &run, &refusal);
        if (status == CULEX_OK && strstr(run->error_text, part) != NULL)
            bulk->ids[kept++] = bulk->ids[i];
        culex_run_info_free(run);
        if (status == CULEX_ENOTFOUND)
            status = CULEX_OK;
        else if (status != CULEX_OK && error != NULL)
            *error = refusal;
    }
    if (part != NULL)
        bulk->id_count = kept;
    return status;
}

/* --- a page ----------------------------------------------------------------------------------- */

static bool is_skip(culex_status status)
{
    return status == CULEX_ESTATE || status == CULEX_ENOTFOUND || status == CULEX_EUNIQUE;
}

static culex_status page_act(struct bulk *bulk, culex_error *error)
{
    bulk->counts.matched += bulk->id_count;
    for (size_t i = 0; i < bulk->id_count && !bulk->wanted->is_dry; i++) {
        culex_error refusal = {0};
        culex_status status = bulk->action->act(bulk->client, bulk->queue, bulk->ids[i], &refusal);
        if (status != CULEX_OK && !is_skip(status)) {
            if (error != NULL)
                *error = refusal;
            culex__error_context(error, "after %llu runs were %s",
                                 (unsigned long long)bulk->counts.done, bulk->action->name);
            return status;
        }
        bulk->counts.done += status == CULEX_OK;
        bulk->counts.skipped += status != CULEX_OK;
    }
    return CULEX_OK;
}

/* The next of the wanted states from the cursor's on, and how many runs it has. */
static culex_status state_begin(struct bulk *bulk, culex_bulk_cursor *cursor, culex_error *error)
{
    unsigned states =
        bulk->wanted->filter.states != 0 ? bulk->wanted->filter.states : bulk->action->states;
    culex_queue_stats stats;
    while (cursor->state < CULEX_RUN_STATE_COUNT && (states & CULEX_LIST_STATE(cursor->state)) == 0)
        cursor->state++;
    cursor->is_over = cursor->state >= CULEX_RUN_STATE_COUNT;
    if (cursor->is_over)
        return CULEX_OK;
    culex_status status = culex_client_stats(bulk->client, bulk->queue, &stats, error);
    if (status != CULEX_OK)
        return status;
    cursor->has_begun = true;
    cursor->left = stats.count[cursor->state];
    cursor->list = (culex_list_cursor){.place = 0};
    return CULEX_OK;
}

static culex_status page_do(struct bulk *bulk, culex_bulk_cursor *cursor, size_t most,
                            culex_error *error)
{
    culex_bulk_cursor next = *cursor;
    uint64_t looked = bulk->counts.looked;
    culex_status status = CULEX_OK;
    most = most < PAGE ? most : PAGE;
    most = most < next.left ? most : (size_t)next.left;
    bulk->id_count = 0;
    if (most > 0)
        status = culex_client_list(bulk->client, bulk->queue, (culex_run_state)next.state,
                                   &next.list, most, run_look, bulk, error);
    if (status == CULEX_OK)
        status = errors_look(bulk, error);
    if (status == CULEX_OK)
        status = page_act(bulk, error);
    if (status != CULEX_OK)
        return status;
    looked = bulk->counts.looked - looked;
    next.left -= looked < next.left ? looked : next.left;
    if (next.left == 0 || next.list.place == 0) {
        next.has_begun = false;
        next.state++;
    }
    *cursor = next;
    return CULEX_OK;
}

culex_status culex_client_bulk(culex_client *client, const char *queue, const culex_bulk *wanted,
                               culex_bulk_cursor *cursor, size_t limit, culex_bulk_visitor visit,
                               void *user, culex_bulk_counts *ret_counts, culex_error *error)
{
    struct bulk bulk = {.client = client, .queue = queue, .wanted = wanted};
    size_t most = limit > 0 ? limit : LOOKS;
    bool is_wanted = true;
    culex_status status = wanted_check(wanted, cursor, error);
    if (status == CULEX_OK)
        bulk.action = &actions[wanted->action];
    while (status == CULEX_OK && is_wanted && !cursor->is_over && bulk.counts.looked < most) {
        if (!cursor->has_begun)
            status = state_begin(&bulk, cursor, error);
        if (status != CULEX_OK || cursor->is_over)
            break;
        uint64_t looked = bulk.counts.looked;
        status = page_do(&bulk, cursor, most - (size_t)bulk.counts.looked, error);
        if (status == CULEX_OK && visit != NULL && bulk.counts.looked > looked)
            is_wanted = visit(&bulk.counts, user);
    }
    if (ret_counts != NULL)
        *ret_counts = bulk.counts;
    return status;
}
