/* ops/command/stats.c - culex stats. */
#include <time.h>
#include <unistd.h>

#include <culex/figures.h>

#include "command/command.h"
#include "command/print.h"
#include "command/shape.h"

struct listing {
    bool is_json;
    const char *queue;
    struct ops_table table;
};

static void figures_json(const char *queue, const culex_figures *figures)
{
    struct ops_json json = {.out = stdout};
    ops_figures_json(&json, NULL, queue, figures);
    ops_json_line_end(&json);
}

static void figures_row(struct ops_table *table, const char *job, const culex_figures *figures)
{
    ops_table_text(table, job);
    ops_table_count(table, figures->done);
    ops_table_count(table, figures->failed);
    ops_table_count(table, figures->crashed + figures->lost);
    ops_table_count(table, figures->dead);
    ops_table_count(table, figures->cancelled);
    ops_table_span(table, figures->wait.p50_us);
    ops_table_span(table, figures->wait.p99_us);
    ops_table_span(table, figures->run.p50_us);
    ops_table_span(table, figures->run.p99_us);
}

static bool figures_add(const culex_figures *figures, void *user)
{
    struct listing *listing = user;
    const char *job = figures->job != NULL && figures->job[0] != '\0' ? figures->job : "(others)";
    if (listing->is_json)
        figures_json(listing->queue, figures);
    else
        figures_row(&listing->table, job, figures);
    return !ferror(stdout);
}

static culex_status figures_print(struct ops *ops, culex_error *error)
{
    static const char *const heads[] = {"~JOB",     ">DONE",       ">FAILED",   ">8CRASHED",
                                        ">DEAD",    ">9CANCELLED", ">WAIT P50", ">WAIT P99",
                                        ">RUN P50", ">RUN P99",    NULL};
    struct listing listing = {.is_json = ops->options.wants_json, .queue = ops->arguments[0]};
    culex_figures all;
    uint64_t hours = ops_is_given(&ops->options, "hours") ? ops->options.hours : 2;
    if (hours == 0 || hours > CULEX_FIGURES_HOURS_MAX)
        return ops_usage(error, "--hours: 1 to %d", CULEX_FIGURES_HOURS_MAX);
    ops_table_begin(&listing.table, heads);
    culex_status status = culex_client_figures_by_job(ops->client, listing.queue, (unsigned)hours,
                                                      figures_add, &listing, error);
    if (status == CULEX_OK)
        status =
            culex_client_figures(ops->client, listing.queue, NULL, (unsigned)hours, &all, error);
    if (status == CULEX_OK && listing.is_json)
        figures_json(listing.queue, &all);
    else if (status == CULEX_OK)
        figures_row(&listing.table, "all", &all);
    if (status == CULEX_OK && !listing.is_json)
        printf("in the last %u hours by the store's clock, this one included\n", (unsigned)hours);
    if (status == CULEX_OK && !listing.is_json)
        ops_table_print(&listing.table, stdout);
    ops_table_end(&listing.table);
    return status;
}

/* On a terminal each one takes the place of the one before. */
culex_status ops_stats(struct ops *ops, culex_error *error)
{
    static const struct timespec pause = {.tv_sec = 2};
    bool is_screen = ops->options.is_watching && isatty(STDOUT_FILENO) && !ops->options.wants_json;
    culex_status status;
    do {
        if (is_screen)
            fputs("\033[H\033[2J", stdout);
        status = figures_print(ops, error);
        fflush(stdout);
    } while (status == CULEX_OK && ops->options.is_watching && !ferror(stdout) &&
             nanosleep(&pause, NULL) == 0);
    return status;
}
