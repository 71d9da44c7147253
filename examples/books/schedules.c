/* books/schedules.c - the schedules of queue "books", as an operator sees and steers them.
 * schedules                      lists them
 * schedules pause|resume|run JOB */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <culex/culex.h>

static const char queue[] = "books";

static const char *time_text(int64_t ms, char text[32])
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm utc;
    if (ms == 0 || gmtime_r(&seconds, &utc) == NULL ||
        strftime(text, 32, "%Y-%m-%d %H:%M:%SZ", &utc) == 0)
        return "-";
    return text;
}

static bool schedule_print(const culex_schedule_info *schedule, void *user)
{
    char last[32], next[32];
    (void)user;
    printf("%-20s last %-20s next %-20s %s\n", schedule->name, time_text(schedule->last_ms, last),
           time_text(schedule->next_ms, next), schedule->is_paused ? "paused" : "");
    return true;
}

static culex_status run_now(culex_client *client, const char *job, culex_error *error)
{
    culex_uuid id;
    char text[CULEX_UUID_TEXT_SIZE];
    culex_status status = culex_client_schedule_run(client, queue, job, &id, error);
    if (status != CULEX_OK)
        return status;
    culex_uuid_format(id, text);
    puts(text);
    return CULEX_OK;
}

static culex_status command(culex_client *client, int argc, char **argv, culex_error *error)
{
    if (argc == 1)
        return culex_client_schedules(client, queue, schedule_print, NULL, error);
    if (argc == 3 && strcmp(argv[1], "pause") == 0)
        return culex_client_schedule_pause(client, queue, argv[2], error);
    if (argc == 3 && strcmp(argv[1], "resume") == 0)
        return culex_client_schedule_resume(client, queue, argv[2], error);
    if (argc == 3 && strcmp(argv[1], "run") == 0)
        return run_now(client, argv[2], error);
    snprintf(error->text, sizeof error->text, "usage: schedules [pause|resume|run JOB]");
    return CULEX_EINVAL;
}

int main(int argc, char **argv)
{
    culex_error error = {.code = CULEX_OK};
    culex_client *client = NULL;
    culex_status status = culex_client_open(NULL, NULL, &client, &error);
    if (status == CULEX_OK)
        status = command(client, argc, argv, &error);
    culex_client_close(client);
    if (status != CULEX_OK)
        fprintf(stderr, "schedules: %s\n", error.text);
    return status == CULEX_OK ? 0 : 1;
}
