/* tools/live.c - culex-live: which versions of the schemas are still in a store.
 *
 * culex_client_live (culex/maintain.h) does the work; here are the options and the lines. Its
 * output is what `culexc` compares a changed schema with, so every name is written as JSON wants
 * it, whatever bytes the store holds. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <culex/culex.h>

#include "base/error.h"
#include "base/utf8.h"
#include "settings/settings.h"
#include "store/register.h"
#include "store/storeurl.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_OUTPUT = 3 };

#define PROGRAM "culex-live"

/* --- lines ------------------------------------------------------------------------------- */

/* Control characters, C1 ones included, are escaped: the lines may end on a terminal. */
static void character_print(const char *at, size_t len)
{
    unsigned char first = (unsigned char)at[0], last = (unsigned char)at[len - 1];
    if (first < 0x20 || first == 0x7f || (len == 2 && first == 0xc2 && last < 0xa0))
        printf("\\u%04x", (unsigned)last);
    else
        printf("%s%.*s", first == '"' || first == '\\' ? "\\" : "", (int)len, at);
}

static void text_print(const char *text)
{
    size_t left = strlen(text);
    putchar('"');
    while (left > 0) {
        size_t len = culex__utf8_char(text, left);
        if (len > 0)
            character_print(text, len);
        else
            fputs("\\ufffd", stdout);
        len += len == 0;
        text += len;
        left -= len;
    }
    putchar('"');
}

/* What is listed, and how much of it there was. */
struct listing {
    struct culex_settings *settings;
    uint64_t queues, schemas, runs;
};

static void count_print(const culex_live_schema *schema, culex_run_state state)
{
    printf(",\"%s\":%" PRIu64, culex_run_state_name(state), schema->count[state]);
}

static bool schema_print(const culex_live_schema *schema, void *user)
{
    struct listing *listing = user;
    fputs("{\"job\":", stdout);
    text_print(schema->job);
    printf(",\"fingerprint\":\"%016" PRIx64 "\",\"queue\":", schema->fingerprint);
    text_print(schema->queue);
    printf(",\"runs\":%" PRIu64 ",\"oldest_ms\":%" PRId64, schema->runs, schema->oldest_ms);
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++) {
        bool is_ended = state == CULEX_RUN_DONE || state == CULEX_RUN_CANCELLED;
        if (!is_ended || listing->settings->wants_ended)
            count_print(schema, (culex_run_state)state);
    }
    puts("}");
    listing->schemas++;
    listing->runs += schema->runs;
    return !ferror(stdout);
}

/* The last line, for a reader who does not see our exit status. */
static void end_print(const struct listing *listing)
{
    printf("{\"complete\":true,\"queues\":%" PRIu64 ",\"schemas\":%" PRIu64 ",\"runs\":%" PRIu64
           "}\n",
           listing->queues, listing->schemas, listing->runs);
}

/* --- queues ------------------------------------------------------------------------------ */

static int name_order(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static bool queue_note(const char *queue, void *user)
{
    struct listing *listing = user;
    (void)queue;
    listing->queues++;
    return true;
}

/* A store without queues is more often another one than was meant. */
static culex_status all_list(culex_client *client, struct listing *listing, culex_error *error)
{
    const struct culex_settings *settings = listing->settings;
    culex_status status = culex_client_queues(client, queue_note, listing, error);
    if (status != CULEX_OK)
        return status;
    if (listing->queues == 0 && !settings->allows_empty)
        return culex__fail(error, CULEX_ENOTFOUND,
                           "the store has no queue: are its URL and prefix right? if they are, say "
                           "--allow-empty");
    return culex_client_live(client, NULL, settings->wants_ended, schema_print, listing, error);
}

static culex_status named_list(culex_client *client, struct listing *listing, culex_error *error)
{
    const struct culex_settings *settings = listing->settings;
    size_t count = settings->options.queue_count;
    culex_status status = CULEX_OK;
    qsort((void *)settings->queues, count, sizeof *settings->queues, name_order);
    for (size_t i = 0; i < count && status == CULEX_OK; i++) {
        const char *queue = settings->queues[i];
        if (i > 0 && strcmp(queue, settings->queues[i - 1]) == 0)
            continue;
        listing->queues++;
        status =
            culex_client_live(client, queue, settings->wants_ended, schema_print, listing, error);
    }
    return status;
}

static culex_status queues_list(culex_client *client, struct culex_settings *settings,
                                culex_error *error)
{
    struct listing listing = {.settings = settings};
    bool is_all = settings->options.queue_count == 0;
    culex_status status = (is_all ? all_list : named_list)(client, &listing, error);
    if (status == CULEX_OK && !ferror(stdout))
        end_print(&listing);
    return status;
}

/* --- the store --------------------------------------------------------------------------- */

/* Opening makes a file that is not there, and an empty list would look like good news. */
static culex_status store_check(const char *url, culex_error *error)
{
    const struct culex__store_kind *kind = culex__store_kind_find(url);
    if (kind != NULL && kind->is_private)
        return culex__fail(error, CULEX_EUSAGE, "a store in memory belongs to one process");
    if (kind == NULL || !kind->is_path)
        return CULEX_OK;
    const char *path = url + strlen(kind->scheme);
    char *file = strndup(path, strcspn(path, "?"));
    if (file == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for a path");
    culex_status status = CULEX_OK;
    if (file[0] != '\0' && access(file, F_OK) != 0)
        status = culex__fail(error, CULEX_ECONNECT, "no store at %s%s: %s", kind->scheme, file,
                             strerror(errno));
    free(file);
    return status;
}

static culex_status store_open(const culex_worker_options *options, culex_client **ret_client,
                               culex_error *error)
{
    const culex_client_options store = {.timeout_ms = options->store_timeout_ms,
                                        .prefix = options->prefix};
    char *url = NULL;
    culex_status status = culex__store_url_choose(options->url, options->url_file, &url, error);
    if (status == CULEX_OK)
        status = store_check(url, error);
    if (status == CULEX_OK)
        status = culex_client_open(url, &store, ret_client, error);
    culex__store_url_free(url);
    return status;
}

static int store_list(struct culex_settings *settings)
{
    culex_client *client = NULL;
    culex_error error = {0};
    culex_status status = store_open(&settings->options, &client, &error);
    if (status == CULEX_OK)
        status = queues_list(client, settings, &error);
    culex_client_close(client);
    if (status == CULEX_OK)
        return EXIT_SUCCESS;
    fprintf(stderr, PROGRAM ": %s\n", error.text);
    return status == CULEX_EUSAGE || status == CULEX_EURL ? EXIT_USAGE : EXIT_FAILED;
}

/* --- the program --------------------------------------------------------------------------- */

static const char *variable_get(const char *name)
{
    return getenv(name);
}

static int settings_serve(struct culex_settings *settings)
{
    int code = EXIT_SUCCESS;
    if (settings->wants_help)
        culex__settings_help(stdout, CULEX_PROGRAM_LIVE, PROGRAM);
    else if (settings->wants_version)
        puts(PROGRAM " " CULEX_VERSION);
    else
        code = store_list(settings);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fputs(PROGRAM ": cannot write the output\n", stderr);
    return EXIT_OUTPUT;
}

int main(int argc, char **argv)
{
    struct culex_settings settings;
    culex_error error = {0};
    int code = EXIT_USAGE;
    if (culex__settings_read(CULEX_PROGRAM_LIVE, argc, argv, variable_get, &settings, &error) ==
        CULEX_OK)
        code = settings_serve(&settings);
    else
        fprintf(stderr, PROGRAM ": %s\n", error.text);
    culex__settings_release(&settings);
    return code;
}
