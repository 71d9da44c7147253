/* client/figures.c - what workers count of runs, as programs and operators read it. */
#include <culex/figures.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "client/client_private.h"
#include "core/figures.h"
#include "store/figure_list.h"

static_assert((int)CULEX_FIGURES_HOURS_MAX == (int)CULEX_FIGURES_HOURS, "as long as they are kept");
static_assert((int)CULEX_SPREAD_BUCKETS == (int)CULEX_FIGURE_BUCKETS, "as they are kept");

/* --- sums ---------------------------------------------------------------------------------- */

/* Of one job, "" for what had no row of its own. */
struct sum {
    char *job;
    struct culex_figure figure;
};

struct sums {
    struct sum *of;
    size_t count, capacity;
};

static void sums_release(struct sums *sums)
{
    for (size_t i = 0; i < sums->count; i++)
        free(sums->of[i].job);
    free(sums->of);
}

/* NULL when out of memory. */
static struct culex_figure *sum_of(struct sums *sums, const char *job)
{
    for (size_t i = 0; i < sums->count; i++) {
        if (strcmp(sums->of[i].job, job) == 0)
            return &sums->of[i].figure;
    }
    if (sums->count == sums->capacity) {
        size_t wider = sums->capacity > 0 ? sums->capacity * 2 : 4;
        struct sum *of = realloc(sums->of, wider * sizeof *of);
        if (of == NULL)
            return NULL;
        sums->of = of;
        sums->capacity = wider;
    }
    char *name = strdup(job);
    if (name == NULL)
        return NULL;
    struct sum *sum = &sums->of[sums->count++];
    memset(sum, 0, sizeof *sum);
    sum->job = name;
    return &sum->figure;
}

/* A row that cannot be read counts nothing: FSCK removes it. */
static bool rows_add(struct sums *sums, const struct culex_figure_list *page)
{
    struct culex_figure more;
    for (size_t i = 0; i < page->count; i++) {
        struct culex_figure *figure = sum_of(sums, page->rows[i].job);
        if (figure == NULL)
            return false;
        if (culex__figure_read(page->rows[i].text, &more))
            culex__figure_add(figure, &more);
    }
    return true;
}

static int sum_order(const void *left, const void *right)
{
    const struct sum *first = left, *second = right;
    return strcmp(first->job, second->job);
}

/* --- calls --------------------------------------------------------------------------------- */

struct call {
    const char *queue, *job;
    unsigned hours;
    struct culex_figure_row after;
    bool goes_on;
    struct culex_figure_list page;
};

static culex_status page_ask(struct culex_store *store, void *user, culex_error *error)
{
    struct call *call = user;
    return store->ops->figures(store, call->queue, call->job, call->hours,
                               call->goes_on ? &call->after : NULL, CULEX_STORE_FIGURES_MAX,
                               &call->page, error);
}

/* All pages. */
static culex_status sums_ask(culex_client *client, struct call *call, struct sums *ret_sums,
                             culex_error *error)
{
    char last[CULEX_JOB_NAME_MAX + 1];
    culex_status status;
    do {
        status = culex__client_perform(client, page_ask, call, error);
        if (status != CULEX_OK)
            break;
        if (!rows_add(ret_sums, &call->page))
            status = culex__fail(error, CULEX_ENOMEM, "no memory for figures");
        call->goes_on = call->page.is_more && call->page.count > 0;
        if (call->goes_on) {
            const struct culex_figure_row *row = &call->page.rows[call->page.count - 1];
            size_t len = strnlen(row->job, CULEX_JOB_NAME_MAX);
            memcpy(last, row->job, len);
            last[len] = '\0';
            call->after = (struct culex_figure_row){.hour = row->hour, .job = last};
        }
        culex__figure_list_release(&call->page);
    } while (status == CULEX_OK && call->goes_on);
    if (status == CULEX_OK && ret_sums->count == 0)
        status = culex__client_queue_judge(client, call->queue, error);
    return status;
}

/* --- what is told -------------------------------------------------------------------------- */

static culex_spread spread_make(const struct culex_figure_times *times)
{
    culex_spread spread = {.count = culex__figure_times_count(times),
                           .p50_us = culex__figure_percentile(times, 50),
                           .p90_us = culex__figure_percentile(times, 90),
                           .p99_us = culex__figure_percentile(times, 99),
                           .max_us = culex__figure_percentile(times, 100)};
    memcpy(spread.buckets, times->of, sizeof spread.buckets);
    return spread;
}

int64_t culex_spread_bucket_us(size_t bucket)
{
    return culex__figure_bucket_us(bucket < CULEX_SPREAD_BUCKETS ? bucket
                                                                 : CULEX_SPREAD_BUCKETS - 1);
}

static culex_figures figures_make(const char *job, const struct culex_figure *figure)
{
    return (culex_figures){.job = job,
                           .done = figure->counts[CULEX_FIGURE_DONE],
                           .failed = figure->counts[CULEX_FIGURE_FAILED],
                           .crashed = figure->counts[CULEX_FIGURE_CRASHED],
                           .lost = figure->counts[CULEX_FIGURE_LOST],
                           .dead = figure->counts[CULEX_FIGURE_DEAD],
                           .cancelled = figure->counts[CULEX_FIGURE_CANCELLED],
                           .wait = spread_make(&figure->waited),
                           .run = spread_make(&figure->ran)};
}

culex_status culex_client_figures(culex_client *client, const char *queue, const char *job,
                                  unsigned hours, culex_figures *ret_figures, culex_error *error)
{
    struct call call = {.queue = queue, .job = job, .hours = hours};
    struct culex_figure total = {.counts = {0}};
    struct sums sums = {.of = NULL};
    if (client == NULL || ret_figures == NULL)
        return culex__fail(error, CULEX_EINVAL,
                           client == NULL ? "no client" : "no place for the figures");
    culex_status status = sums_ask(client, &call, &sums, error);
    for (size_t i = 0; i < sums.count; i++)
        culex__figure_add(&total, &sums.of[i].figure);
    if (status == CULEX_OK)
        *ret_figures = figures_make(job, &total);
    sums_release(&sums);
    return status;
}

culex_status culex_client_figures_by_job(culex_client *client, const char *queue, unsigned hours,
                                         culex_figures_visitor visit, void *user,
                                         culex_error *error)
{
    struct call call = {.queue = queue, .hours = hours};
    struct sums sums = {.of = NULL};
    if (client == NULL || visit == NULL)
        return culex__fail(error, CULEX_EINVAL, client == NULL ? "no client" : "no visitor");
    culex_status status = sums_ask(client, &call, &sums, error);
    if (sums.count > 1)
        qsort(sums.of, sums.count, sizeof *sums.of, sum_order);
    for (size_t i = 0; i < sums.count && status == CULEX_OK; i++) {
        culex_figures figures = figures_make(sums.of[i].job, &sums.of[i].figure);
        if (!visit(&figures, user))
            break;
    }
    sums_release(&sums);
    return status;
}
