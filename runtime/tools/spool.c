/* tools/spool.c - culex-spool: what waits in a spool for its store, and sending it there
 * (culex/spool.h). Store and spool are those of the environment (culex_client_open). What it prints
 * are lines of JSON, payloads of the structs that are described here. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <culex/culex.h>

#include "base/error.h"
#include "client/client_private.h"
#include "core/number.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_OUTPUT = 3 };

#define PROGRAM "culex-spool"

/* --- what goes out --------------------------------------------------------------------------- */

struct totals {
    uint64_t runs, aside, bytes;
    int64_t oldest_ms;
};

struct aside {
    uint64_t number;
    const char *queue, *job;
    int64_t enqueued_ms;
    const char *reason;
};

struct sent {
    uint64_t forwarded, aside, left;
};

struct settled {
    uint64_t settled;
};

#define FIELD(type, member, of_kind)                                                               \
    {                                                                                              \
        .name = #member, .wire = #member, .kind = of_kind, .flags = CULEX_FIELD_REQUIRED,          \
        .offset = offsetof(struct type, member)                                                    \
    }
#define TYPE(type)                                                                                 \
    static const culex_struct_type type##_type = {#type, sizeof(struct type), type##_fields,       \
                                                  sizeof type##_fields / sizeof type##_fields[0]}

static const culex_field totals_fields[] = {
    FIELD(totals, runs, CULEX_KIND_UINT64), FIELD(totals, aside, CULEX_KIND_UINT64),
    FIELD(totals, bytes, CULEX_KIND_UINT64), FIELD(totals, oldest_ms, CULEX_KIND_INT64)};
static const culex_field aside_fields[] = {
    FIELD(aside, number, CULEX_KIND_UINT64), FIELD(aside, queue, CULEX_KIND_STRING),
    FIELD(aside, job, CULEX_KIND_STRING), FIELD(aside, enqueued_ms, CULEX_KIND_INT64),
    FIELD(aside, reason, CULEX_KIND_STRING)};
static const culex_field sent_fields[] = {FIELD(sent, forwarded, CULEX_KIND_UINT64),
                                          FIELD(sent, aside, CULEX_KIND_UINT64),
                                          FIELD(sent, left, CULEX_KIND_UINT64)};
static const culex_field settled_fields[] = {FIELD(settled, settled, CULEX_KIND_UINT64)};
TYPE(totals);
TYPE(aside);
TYPE(sent);
TYPE(settled);

static bool value_print(const culex_struct_type *type, const void *value)
{
    culex_buf text;
    culex_buf_init(&text, 0);
    bool is_done =
        culex_encode(type, value, &text, NULL) == CULEX_OK && printf("%s\n", text.data) > 0;
    culex_buf_release(&text);
    return is_done;
}

/* --- verbs ----------------------------------------------------------------------------------- */

static bool aside_print(const culex_spool_run *run, void *user)
{
    const struct aside aside = {(uint64_t)run->number, run->queue, run->job, run->enqueued_ms,
                                run->reason};
    (void)user;
    return value_print(&aside_type, &aside);
}

static culex_status show(culex_client *client, uint64_t number, culex_error *error)
{
    culex_spool_stats stats;
    (void)number;
    culex_status status = culex_client_spool_stats(client, &stats, error);
    if (status != CULEX_OK)
        return status;
    const struct totals totals = {stats.runs, stats.aside, stats.bytes, stats.oldest_ms};
    value_print(&totals_type, &totals);
    return culex_client_spool_aside(client, aside_print, NULL, error);
}

/* All of it, in calls that are bounded each. */
static culex_status forward(culex_client *client, uint64_t number, culex_error *error)
{
    struct sent sent = {.left = 1};
    culex_status status = CULEX_OK;
    (void)number;
    while (status == CULEX_OK && sent.left > 0) {
        culex_forward_counts counts = {0};
        status = culex_client_forward(client, 0, &counts, error);
        sent.forwarded += counts.forwarded;
        sent.aside += counts.aside;
        sent.left = counts.left;
    }
    value_print(&sent_type, &sent);
    return status;
}

static culex_status again(culex_client *client, uint64_t number, culex_error *error)
{
    struct settled settled = {0};
    culex_status status = culex_client_spool_again(client, number, &settled.settled, error);
    if (status == CULEX_OK)
        value_print(&settled_type, &settled);
    return status;
}

static culex_status drop(culex_client *client, uint64_t number, culex_error *error)
{
    struct settled settled = {0};
    culex_status status = culex_client_spool_drop(client, number, &settled.settled, error);
    if (status == CULEX_OK)
        value_print(&settled_type, &settled);
    return status;
}

struct verb {
    const char *name;
    bool takes_number;
    culex_status (*act)(culex_client *client, uint64_t number, culex_error *error);
};

static const struct verb verbs[] = {{"show", false, show},
                                    {"forward", false, forward},
                                    {"again", true, again},
                                    {"drop", true, drop}};

/* --- the program ----------------------------------------------------------------------------- */

static int verb_serve(const struct verb *verb, uint64_t number)
{
    culex_client *client = NULL;
    culex_error error = {0};
    culex_status status = culex__client_open_spool(NULL, NULL, &client, &error);
    if (status == CULEX_OK)
        status = verb->act(client, number, &error);
    culex_client_close(client);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs(PROGRAM ": cannot write the output\n", stderr);
        return EXIT_OUTPUT;
    }
    if (status == CULEX_OK)
        return EXIT_SUCCESS;
    fprintf(stderr, PROGRAM ": %s\n", error.text);
    return status == CULEX_EUSAGE || status == CULEX_EURL || status == CULEX_EINVAL ? EXIT_USAGE
                                                                                    : EXIT_FAILED;
}

/* A number, or "all", which is 0. */
static bool number_read(const char *text, uint64_t *ret_number)
{
    int64_t number = 0;
    if (strcmp(text, "all") != 0 &&
        (!culex__int64_parse(text, strlen(text), &number) || number < 1))
        return false;
    *ret_number = (uint64_t)number;
    return true;
}

static int line_serve(int argc, char **argv)
{
    uint64_t number = 0;
    for (size_t i = 0; argc > 1 && i < sizeof verbs / sizeof verbs[0]; i++) {
        const struct verb *verb = &verbs[i];
        if (strcmp(argv[1], verb->name) == 0 && argc == 2 + verb->takes_number &&
            (!verb->takes_number || number_read(argv[2], &number)))
            return verb_serve(verb, number);
    }
    return -1;
}

int main(int argc, char **argv)
{
    static const char help[] =
        "usage: " PROGRAM " show | forward | again NUMBER|all | drop NUMBER|all\n"
        "Looks after the runs that wait in a spool while their store is away: CULEX_SPOOL names\n"
        "the file, CULEX_URL or CULEX_URL_FILE the store.\n"
        "\n"
        "  show     what waits, and what stands aside with its number and the reason\n"
        "  forward  sends what waits to the store\n"
        "  again    puts what stands aside back among what waits\n"
        "  drop     deletes what stands aside\n";
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return fputs(help, stdout) < 0 || fflush(stdout) != 0 ? EXIT_OUTPUT : EXIT_SUCCESS;
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return puts(PROGRAM " " CULEX_VERSION) < 0 || fflush(stdout) != 0 ? EXIT_OUTPUT
                                                                          : EXIT_SUCCESS;
    int code = line_serve(argc, argv);
    if (code >= 0)
        return code;
    fputs(help, stderr);
    return EXIT_USAGE;
}
