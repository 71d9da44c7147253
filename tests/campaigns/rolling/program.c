#include "program.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- what handlers and producers use ------------------------------------------------------- */

culex_outcome tell(const char *job, uint32_t n, const char *format, ...)
{
    char line[256];
    int len = snprintf(line, sizeof line, "%s %s %u ", version_name, job, (unsigned)n);
    va_list list;
    va_start(list, format);
    len += vsnprintf(line + len, sizeof line - (size_t)len - 1, format, list);
    va_end(list);
    line[len++] = '\n';
    /* One write to a file that is open for appending: lines of several processes stay whole. */
    const char *out = getenv("ROLLING_OUT");
    int fd = out != NULL ? open(out, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    ssize_t put = fd >= 0 ? write(fd, line, (size_t)len) : -1;
    if (fd >= 0)
        close(fd);
    return put == len ? CULEX_DONE : CULEX_DISCARDED;
}

const char *text_of(const char *prefix, uint32_t n)
{
    static char texts[8][32];
    static unsigned next;
    char *text = texts[next++ % 8];
    snprintf(text, sizeof texts[0], "%s%u", prefix, (unsigned)n);
    return text;
}

const char *list_text(const uint8_t *list, size_t len)
{
    static char text[64];
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < len && at + 8 < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%u", i > 0 ? "," : "",
                               (unsigned)list[i]);
    return text;
}

/* --- verbs --------------------------------------------------------------------------------- */

static bool run_print(const culex_run_info *run, void *user)
{
    culex_run_info *whole = NULL;
    if (culex_client_get(user, run->queue, run->id, &whole, NULL) == CULEX_OK)
        printf("%s %s %u %u %u %s\n", culex_run_state_name(whole->state), whole->job,
               (unsigned)whole->failures, (unsigned)whole->crashes, (unsigned)whole->losses,
               whole->error_text);
    culex_run_info_free(whole);
    return true;
}

static culex_status state_print(culex_client *client, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (int state = 0; state < CULEX_RUN_STATE_COUNT && status == CULEX_OK; state++) {
        culex_list_cursor cursor = {.place = 0};
        do
            status = culex_client_list(client, "rolling", (culex_run_state)state, &cursor, 0,
                                       run_print, client, error);
        while (status == CULEX_OK && cursor.place != 0);
    }
    return status;
}

static uint32_t number(int argc, char **argv, int at)
{
    return at < argc ? (uint32_t)strtoul(argv[at], NULL, 10) : 0;
}

static culex_status verb_do(culex_client *client, int argc, char **argv, culex_error *error)
{
    uint32_t from = number(argc, argv, 2), count = number(argc, argv, 3);
    culex_status status = CULEX_OK;
    if (strcmp(argv[1], "state") == 0)
        return state_print(client, error);
    if (strcmp(argv[1], "gone") == 0)
        return version_enqueue_gone(client, from, error);
    for (uint32_t n = from; n < from + count && status == CULEX_OK; n++)
        status = version_enqueue(client, n, error);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argv[1][0] == '-')
        return culex_worker_main(argc, argv, version_setup, NULL);
    culex_error error = {0};
    culex_client *client = NULL;
    culex_status status = culex_client_open(NULL, NULL, &client, &error);
    if (status == CULEX_OK)
        status = verb_do(client, argc, argv, &error);
    if (status != CULEX_OK)
        fprintf(stderr, "version %s: %s\n", version_name, error.text);
    culex_client_close(client);
    return status == CULEX_OK ? 0 : 1;
}
