/* ops/command/export.c - culex export: the runs of queues as lines of JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/ask.h"
#include "command/print.h"
#include "command/source.h"

/* One call of the command. */
struct exporting {
    struct ops *ops;
    struct ops_source *source; /* the queue at hand */
    uint64_t all, runs, gone, unreadable;
};

/* The store as the user named it, without what may be a password. */
static char *store_name(const struct ops *ops)
{
    const char *url = ops->options.url != NULL ? ops->options.url : getenv("CULEX_URL");
    if (url == NULL)
        return ops_copy("", 0);
    size_t len = strcspn(url, "?");
    const char *slashes = strstr(url, "//"), *at = memchr(url, '@', len);
    if (slashes == NULL || at == NULL || at < slashes)
        return ops_copy(url, len);
    char *name = ops_copy(url, len);
    size_t head = (size_t)(slashes - url) + 2, tail = len - (size_t)(at + 1 - url);
    memmove(name + head, at + 1, tail);
    name[head + tail] = '\0';
    return name;
}

static void head_print(const struct ops *ops)
{
    static char program[] = CULEX_VERSION;
    char *store = store_name(ops);
    const struct ops_record_line line = {.kind = OPS_LINE_EXPORT,
                                         .version = OPS_EXPORT_VERSION,
                                         .program = program,
                                         .store = store,
                                         .exported_at_ms = culex_time_now() / CULEX_MILLISECOND};
    ops_record_print(stdout, &line);
    free(store);
}

static void queue_print(const struct ops_source *source)
{
    char *name = ops_copy(source->queue, strlen(source->queue));
    struct ops_record_line line = {.kind = OPS_LINE_QUEUE,
                                   .is_paused = source->stats.paused,
                                   .capacity = (int64_t)source->stats.limit,
                                   .dead_limit = (int64_t)source->stats.dead_limit,
                                   .record.run.queue = name};
    ops_record_print(stdout, &line);
    line.kind = OPS_LINE_LIMIT;
    for (size_t i = 0; i < source->limit_count; i++) {
        const struct ops_source_limit *limit = &source->limits[i];
        line.limit = (culex_transfer_limit){limit->kind, limit->name, "", limit->set};
        if (limit->set.count > 0)
            ops_record_print(stdout, &line);
    }
    free(name);
}

/* --- runs ------------------------------------------------------------------------------------- */

/* One that cannot be read is told, and holds up none of the others. */
static culex_status run_skip(struct exporting *exporting, culex_uuid id, culex_status status,
                             culex_error *error)
{
    char text[CULEX_UUID_TEXT_SIZE];
    exporting->gone += status == CULEX_ENOTFOUND;
    if (status == CULEX_ENOTFOUND)
        return CULEX_OK;
    if (status != CULEX_ECORRUPT)
        return status;
    culex_uuid_format(id, text);
    ops_name_failure(status, text, error);
    ops_failure_print(error->text);
    exporting->unreadable++;
    exporting->ops->code = OPS_EXIT_FAILED;
    return CULEX_OK;
}

static culex_status run_export(struct exporting *exporting, culex_uuid id, culex_error *error)
{
    struct ops_record_line line = {.kind = OPS_LINE_RUN};
    culex_run_info *info = NULL;
    culex_status status = ops_source_run(exporting->source, id, &line.record, &info, error);
    if (status == CULEX_OK) {
        ops_record_print(stdout, &line);
        exporting->runs++;
        ops_progress_show(exporting->runs, exporting->all);
    } else
        status = run_skip(exporting, id, status, error);
    culex_run_info_free(info);
    return status;
}

static culex_status page_export(void *user, const culex_uuid *ids, size_t count, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < count && status == CULEX_OK && !ferror(stdout); i++)
        status = run_export(user, ids[i], error);
    if (status == CULEX_OK && ops_is_interrupted())
        return ops_fail(error, CULEX_ESTATE, "interrupted: the file has no end");
    return status == CULEX_OK && ferror(stdout) != 0
               ? ops_fail(error, CULEX_ESTATE, "the output cannot be written")
               : status;
}

/* A run that leaves a state meanwhile comes into a later one, as long as the queue is paused: one
 * of which nobody has to do anything becomes due. So it stands twice rather than not at all. */
static const culex_run_state order[CULEX_RUN_STATE_COUNT] = {
    CULEX_RUN_ACTIVE, CULEX_RUN_SCHEDULED, CULEX_RUN_WAITING,
    CULEX_RUN_DEAD,   CULEX_RUN_DONE,      CULEX_RUN_CANCELLED};

static void queue_note(const struct ops_source *source, unsigned states)
{
    const unsigned live = CULEX_LIST_STATE(CULEX_RUN_WAITING) |
                          CULEX_LIST_STATE(CULEX_RUN_SCHEDULED) |
                          CULEX_LIST_STATE(CULEX_RUN_ACTIVE);
    if (!source->stats.paused && ops_source_count(source, states & live) > 0)
        fprintf(
            stderr,
            "culex: queue %s is not paused, so what becomes of its runs meanwhile is not in the "
            "file, and culex import takes it with --copy alone\n",
            source->queue);
    if (source->metadata > 0)
        fprintf(stderr, "culex: queue %s: what %" PRIu64 " jobs keep (metadata) is not exported\n",
                source->queue, source->metadata);
    if (source->schedules > 0)
        fprintf(stderr,
                "culex: queue %s: that %" PRIu64 " of its schedules are paused is not exported\n",
                source->queue, source->schedules);
}

static culex_status queue_export(struct exporting *exporting, const char *queue, unsigned states,
                                 culex_error *error)
{
    struct ops_source source;
    culex_status status = ops_source_read(exporting->ops->client, queue, &source, error);
    exporting->source = &source;
    if (status == CULEX_OK) {
        exporting->all = exporting->runs + ops_source_count(&source, states);
        queue_print(&source);
        queue_note(&source, states);
    }
    for (size_t i = 0; i < CULEX_RUN_STATE_COUNT && status == CULEX_OK; i++) {
        if ((states & CULEX_LIST_STATE(order[i])) != 0)
            status = ops_source_walk(&source, order[i], page_export, exporting, error);
    }
    exporting->source = NULL;
    ops_source_free(&source);
    return status;
}

static void end_print(const struct exporting *exporting)
{
    const struct ops_record_line line = {.kind = OPS_LINE_END, .runs = (int64_t)exporting->runs};
    ops_record_print(stdout, &line);
    ops_progress_end();
    fprintf(stderr, "culex: %" PRIu64 " runs were exported", exporting->runs);
    if (exporting->gone > 0)
        fprintf(stderr, "; %" PRIu64 " were forgotten meanwhile", exporting->gone);
    if (exporting->unreadable > 0)
        fprintf(stderr, "; %" PRIu64 " cannot be read", exporting->unreadable);
    fputs(". Their params stand in the file, secret ones too\n", stderr);
}

culex_status ops_export(struct ops *ops, culex_error *error)
{
    struct exporting exporting = {.ops = ops};
    struct ops_names names;
    unsigned states = ops->options.states != 0 ? ops->options.states : ~0U;
    if (isatty(STDOUT_FILENO))
        return ops_usage(error, "export: params may be secret, and this is a terminal: say where "
                                "they go, as in culex export > FILE");
    culex_status status = ops_source_names(ops, ops->client, &names, error);
    ops_interrupts_catch();
    if (status == CULEX_OK)
        head_print(ops);
    for (size_t i = 0; i < names.count && status == CULEX_OK; i++)
        status = queue_export(&exporting, names.of[i], states, error);
    ops_progress_end();
    if (status == CULEX_OK)
        end_print(&exporting);
    ops_names_free(&names);
    return status;
}
