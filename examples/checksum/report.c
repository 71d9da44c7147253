/* checksum/report.c - what became of the runs.
 * report            prints "SUM  PATH" of every finished run, as sha256sum does
 * report --progress draws a progress line until every run has ended
 * report --times    prints how long runs waited and how long they took */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "checksum_job.h"

enum { BAR_WIDTH = 40, REFRESH_MS = 50 };

static const char *queue(void)
{
    return checksum_job_type.queue;
}

static void result_print(const culex_run_info *run)
{
    culex_arena *arena = culex_arena_create();
    const checksum_result *result = NULL;
    if (arena != NULL && checksum_job_decode_result(arena, run->result.data, run->result.len,
                                                    &result, NULL) == CULEX_OK)
        printf("%s  %s\n", result->sha256, result->path);
    culex_arena_free(arena);
}

static bool done_print(const culex_run_info *run, void *user)
{
    culex_run_info *full = NULL;
    if (culex_client_get(user, queue(), run->id, &full, NULL) == CULEX_OK)
        result_print(full);
    culex_run_info_free(full);
    return true;
}

static int results_print(culex_client *client, culex_error *error)
{
    culex_list_cursor cursor = {.place = 0};
    do {
        if (culex_client_list(client, queue(), CULEX_RUN_DONE, &cursor, 0, done_print, client,
                              error) != CULEX_OK)
            return 1;
    } while (cursor.place != 0);
    return 0;
}

static void bar_draw(uint64_t ended, uint64_t total)
{
    char bar[BAR_WIDTH + 1];
    size_t full = total == 0 ? BAR_WIDTH : (size_t)(ended * BAR_WIDTH / total);
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', full);
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "%s[%s] %llu of %llu files%s", isatty(STDERR_FILENO) ? "\r" : "", bar,
            (unsigned long long)ended, (unsigned long long)total,
            ended == total || !isatty(STDERR_FILENO) ? "\n" : "");
}

static int progress_show(culex_client *client, culex_error *error)
{
    const struct timespec refresh = {0, REFRESH_MS * 1000000L};
    uint64_t shown = UINT64_MAX;
    for (;;) {
        culex_queue_stats stats;
        if (culex_client_stats(client, queue(), &stats, error) != CULEX_OK)
            return 1;
        uint64_t ended = stats.done + stats.dead + stats.cancelled;
        if (ended != shown)
            bar_draw(ended, stats.enqueued);
        shown = ended;
        if (ended >= stats.enqueued)
            return stats.dead == 0 ? 0 : 1;
        nanosleep(&refresh, NULL);
    }
}

/* Whoever looks for what is slow begins here: runs that wait want more workers, runs that take long
 * a faster handler. */
static void spread_print(const char *what, const culex_spread *spread)
{
    printf("%-6s %6llu  half within %8.1f ms, 99 of 100 within %8.1f ms\n", what,
           (unsigned long long)spread->count, (double)spread->p50_us / 1000,
           (double)spread->p99_us / 1000);
}

static int times_print(culex_client *client, culex_error *error)
{
    culex_figures figures;
    if (culex_client_figures(client, queue(), checksum_job_type.name, 2, &figures, error) !=
        CULEX_OK)
        return 1;
    printf("done %llu, failed attempts %llu, dead %llu in this hour and the last\n",
           (unsigned long long)figures.done, (unsigned long long)(figures.failed + figures.crashed),
           (unsigned long long)figures.dead);
    spread_print("waited", &figures.wait);
    spread_print("took", &figures.run);
    return 0;
}

int main(int argc, char **argv)
{
    culex_error error = {CULEX_OK, "", ""};
    culex_client *client = NULL;
    bool is_progress = argc > 1 && strcmp(argv[1], "--progress") == 0;
    bool is_times = argc > 1 && strcmp(argv[1], "--times") == 0;
    if (culex_client_open(NULL, NULL, &client, &error) != CULEX_OK) {
        fprintf(stderr, "report: %s\n", error.text);
        return 1;
    }
    int code = is_progress ? progress_show(client, &error)
               : is_times  ? times_print(client, &error)
                           : results_print(client, &error);
    if (code != 0 && error.text[0] != '\0')
        fprintf(stderr, "report: %s\n", error.text);
    culex_client_close(client);
    return code;
}
