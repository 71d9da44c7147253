/* ops/command/import.c - culex import: runs from a file of culex export, or from another store. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/ask.h"
#include "command/carry.h"
#include "command/lines.h"
#include "command/open.h"
#include "command/source.h"

/* What has come of a run is known for as long as its key is, and that begins with the export at the
 * earliest. */
#define FILE_AGE_MAX (29 * CULEX_DAY)

static culex_status paused_check(const struct ops_carry *carry, culex_error *error)
{
    if (carry->is_paused || carry->ops->options.is_copy)
        return CULEX_OK;
    return ops_usage(error,
                     "queue %s %s not paused: its workers go on with the runs, and each would be "
                     "executed there and here. %s, or say --copy when that is wanted",
                     carry->queue, carry->from != NULL ? "is" : "was",
                     carry->from != NULL ? "Pause it" : "Pause it and export it again");
}

/* --- a file ----------------------------------------------------------------------------------- */

struct reading {
    struct ops_carry *carry;
    struct ops_lines lines;
    bool has_begun, has_ended;
    bool is_meant; /* the queue at hand */
    char queue[OPS_QUEUE_SIZE];
    int64_t runs; /* in the file so far */
};

static culex_status head_take(struct reading *reading, const struct ops_record_line *line,
                              culex_error *error)
{
    const struct ops *ops = reading->carry->ops;
    int64_t age_ms = culex_time_now() / CULEX_MILLISECOND - line->exported_at_ms;
    if (line->version != OPS_EXPORT_VERSION)
        return ops_usage(error, "it is an export of version %" PRIu32 ", and culex %s reads %d",
                         line->version, CULEX_VERSION, OPS_EXPORT_VERSION);
    if (age_ms > FILE_AGE_MAX / CULEX_MILLISECOND && !ops->options.is_old)
        return ops_usage(error, "it is older than 29 days, and what has come of it before may be "
                                "forgotten, and come again: say --old if nothing has");
    reading->has_begun = true;
    return CULEX_OK;
}

static culex_status queue_take(struct reading *reading, const struct ops_record_line *line,
                               culex_error *error)
{
    struct ops_carry *carry = reading->carry;
    culex_status status = ops_carry_queue_end(carry, CULEX_OK, error);
    if (status != CULEX_OK)
        return status;
    snprintf(reading->queue, sizeof reading->queue, "%s", line->record.run.queue);
    reading->is_meant = ops_source_is_meant(carry->ops, reading->queue);
    if (!reading->is_meant)
        return CULEX_OK;
    ops_carry_queue(carry, reading->queue, line->is_paused);
    carry->capacity = (uint64_t)line->capacity;
    carry->dead_limit = (uint64_t)line->dead_limit;
    return CULEX_OK;
}

static culex_status run_take(struct reading *reading, const struct ops_record_line *line,
                             culex_error *error)
{
    reading->runs++;
    if (!reading->is_meant) {
        culex_arena_reset(reading->carry->arena);
        return CULEX_OK;
    }
    culex_status status = CULEX_OK;
    if (ops_carry_wants(reading->carry, line->record.run.state))
        status = paused_check(reading->carry, error);
    return status == CULEX_OK ? ops_carry_run(reading->carry, &line->record, NULL, error) : status;
}

static culex_status end_take(struct reading *reading, const struct ops_record_line *line,
                             culex_error *error)
{
    if (line->runs != reading->runs)
        return ops_usage(error,
                         "%" PRId64 " runs are to stand before it, and %" PRId64 " do: some lines "
                         "were lost, or added",
                         line->runs, reading->runs);
    reading->has_ended = true;
    return CULEX_OK;
}

static culex_status line_take(struct reading *reading, const struct ops_record_line *line,
                              culex_error *error)
{
    bool is_of_queue = line->kind == OPS_LINE_RUN || line->kind == OPS_LINE_LIMIT;
    if (reading->has_ended)
        return ops_usage(error, "it stands behind the end");
    if (reading->has_begun == (line->kind == OPS_LINE_EXPORT))
        return ops_usage(error, reading->has_begun ? "it begins another export: one at a time"
                                                   : "it is no export: that begins with a line "
                                                     "\"export\"");
    if (is_of_queue && strcmp(line->record.run.queue, reading->queue) != 0)
        return ops_usage(error, "it is of queue %.64s, whose line does not stand before it",
                         line->record.run.queue);
    switch (line->kind) {
    case OPS_LINE_EXPORT:
        return head_take(reading, line, error);
    case OPS_LINE_QUEUE:
        return queue_take(reading, line, error);
    case OPS_LINE_RUN:
        return run_take(reading, line, error);
    case OPS_LINE_LIMIT:
        if (reading->is_meant)
            ops_carry_limit(reading->carry, line->limit.name, &line->limit.value);
        return CULEX_OK;
    case OPS_LINE_END:
    case OPS_LINE_KIND_COUNT:
        break;
    }
    return end_take(reading, line, error);
}

static culex_status lines_take(struct reading *reading, culex_error *error)
{
    struct ops_carry *carry = reading->carry;
    struct ops_record_line line;
    struct ops_slice text = {NULL, 0};
    culex_status status;
    do {
        status = ops_lines_next(&reading->lines, &text, error);
        if (status == CULEX_OK && text.text != NULL)
            status = ops_record_read(text, carry->arena, &line, error);
        if (status == CULEX_EUSAGE && reading->lines.is_cut && text.text != NULL)
            return ops_usage(error, "the file breaks off in it");
        if (status == CULEX_OK && text.text != NULL)
            status = line_take(reading, &line, error);
        if (status == CULEX_OK && ops_is_interrupted())
            return ops_fail(error, CULEX_ESTATE, "interrupted: run it again to go on");
    } while (status == CULEX_OK && text.text != NULL);
    if (status == CULEX_OK && !reading->has_ended)
        return ops_usage(error, "the file breaks off before it: it has no end");
    return status;
}

/* All lines, which is all of what is done where the carry is dry. */
static culex_status file_take(struct ops_carry *carry, culex_error *error)
{
    struct reading reading = {.carry = carry, .lines = {.in = stdin}};
    char place[64];
    culex_status status = lines_take(&reading, error);
    snprintf(place, sizeof place, "line %" PRIu64, reading.lines.number);
    ops_name_failure(status, place, error);
    ops_lines_end(&reading.lines);
    return ops_carry_queue_end(carry, status, error);
}

/* A file is read to its end before the first run is brought; what comes from a program is not. */
static culex_status file_check(struct ops *ops, uint64_t *ret_all, culex_error *error)
{
    struct stat stat;
    struct ops_carry carry;
    if (fstat(STDIN_FILENO, &stat) != 0 || !S_ISREG(stat.st_mode))
        return CULEX_OK;
    ops_interrupts_catch(); /* a pipe may be silent for long: there they end the program, as ever */
    ops_carry_begin(&carry, ops);
    carry.is_dry = carry.is_quiet = true;
    culex_status status = file_take(&carry, error);
    *ret_all = carry.brought;
    ops_carry_end(&carry);
    rewind(stdin);
    return status;
}

static void source_note(const struct ops_carry *carry)
{
    if (carry->brought > 0 && !carry->is_dry && !carry->is_move && !carry->ops->options.is_copy)
        fputs("culex: the runs are still where they come from, too: delete them there before those "
              "queues are resumed\n",
              stderr);
}

static culex_status file_import(struct ops *ops, struct ops_carry *carry, culex_error *error)
{
    if (isatty(STDIN_FILENO))
        return ops_usage(error, "import: what an export has written is read from standard input: "
                                "culex import < FILE; or say --from URL");
    culex_status status = file_check(ops, &carry->all, error);
    if (status == CULEX_OK && !carry->is_dry)
        status = ops_store_open_new(ops, error);
    if (status == CULEX_OK)
        status = file_take(carry, error);
    return status;
}

/* --- another store ---------------------------------------------------------------------------- */

struct walk {
    struct ops_carry *carry;
    struct ops_source *source;
};

/* Of a run that has changed its state since it was listed nothing is brought. */
static culex_status run_carry(struct walk *walk, culex_uuid id, culex_error *error)
{
    struct ops_record record;
    culex_run_info *info = NULL;
    culex_status status = ops_source_run(walk->source, id, &record, &info, error);
    if (status == CULEX_OK)
        return ops_carry_run(walk->carry, &record, info, error);
    culex_run_info_free(info);
    walk->carry->counts.looked++;
    walk->carry->counts.changed += status == CULEX_ENOTFOUND;
    walk->carry->counts.unreadable += status == CULEX_ECORRUPT;
    return status == CULEX_ENOTFOUND || status == CULEX_ECORRUPT ? CULEX_OK : status;
}

/* A pause may have ended since the page before. */
static culex_status page_carry(void *user, const culex_uuid *ids, size_t count, culex_error *error)
{
    struct walk *walk = user;
    struct ops_carry *carry = walk->carry;
    culex_queue_stats stats;
    culex_status status = culex_client_stats(carry->from, carry->queue, &stats, error);
    if (status != CULEX_OK)
        return status;
    carry->is_paused = stats.paused;
    status = paused_check(carry, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = run_carry(walk, ids[i], error);
    if (status == CULEX_OK && carry->is_move)
        status = ops_carry_flush(carry, error);
    if (status == CULEX_OK && ops_is_interrupted())
        return ops_fail(error, CULEX_ESTATE, "interrupted: run it again to go on");
    return status;
}

static void settings_take(struct ops_carry *carry, const struct ops_source *source)
{
    carry->capacity = source->stats.limit;
    carry->dead_limit = source->stats.dead_limit;
    for (size_t i = 0; i < source->limit_count; i++) {
        if (source->limits[i].set.count > 0)
            ops_carry_limit(carry, source->limits[i].name, &source->limits[i].set);
    }
    if (source->metadata > 0)
        fprintf(stderr, "culex: queue %s: what %" PRIu64 " jobs keep (metadata) is not carried\n",
                source->queue, source->metadata);
    if (source->schedules > 0)
        fprintf(stderr,
                "culex: queue %s: that %" PRIu64 " of its schedules are paused is not carried\n",
                source->queue, source->schedules);
}

/* Producers may go on where the runs come from. */
static culex_status rest_tell(struct ops_carry *carry, culex_error *error)
{
    culex_queue_stats stats;
    const struct ops_carry_counts *counts = &carry->counts;
    uint64_t left = carry->is_move ? counts->members + counts->kept_out + counts->conflicts +
                                         counts->unreadable + counts->gone
                                   : counts->wanted - counts->revived + counts->unreadable;
    culex_status status = culex_client_stats(carry->from, carry->queue, &stats, error);
    uint64_t rest = stats.count[CULEX_RUN_WAITING] + stats.count[CULEX_RUN_SCHEDULED];
    if (status != CULEX_OK || rest <= left)
        return status;
    carry->ops->code = OPS_EXIT_FAILED;
    fprintf(stderr,
            "culex: queue %s: %" PRIu64 " runs came in meanwhile, and are there alone: have its "
            "producers enqueue elsewhere, and run it again\n",
            carry->queue, rest - left);
    return CULEX_OK;
}

static culex_status queue_carry(struct ops_carry *carry, struct ops_source *source,
                                culex_error *error)
{
    /* One that becomes due meanwhile is met among those that wait. */
    static const culex_run_state order[] = {CULEX_RUN_SCHEDULED, CULEX_RUN_WAITING, CULEX_RUN_DEAD};
    struct walk walk = {carry, source};
    culex_status status = CULEX_OK;
    ops_carry_queue(carry, source->queue, source->stats.paused);
    settings_take(carry, source);
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++) {
        if (!ops_carry_wants(carry, (culex_run_state)state))
            carry->counts.left[state] = source->stats.count[state];
    }
    for (size_t i = 0; i < sizeof order / sizeof order[0] && status == CULEX_OK; i++) {
        if (ops_carry_wants(carry, order[i]))
            status = ops_source_walk(source, order[i], page_carry, &walk, error);
    }
    if (status == CULEX_OK)
        status = ops_carry_flush(carry, error);
    if (status == CULEX_OK && !carry->ops->options.is_copy && !carry->is_dry &&
        ops_carry_wants(carry, CULEX_RUN_WAITING) && ops_carry_wants(carry, CULEX_RUN_SCHEDULED))
        status = rest_tell(carry, error);
    return ops_carry_queue_end(carry, status, error);
}

/* What is known of each queue before anything is asked or done. */
static culex_status sources_check(struct ops_carry *carry, struct ops_source *sources,
                                  const struct ops_names *names, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < names->count && status == CULEX_OK; i++) {
        uint64_t count;
        status = ops_source_read(carry->from, names->of[i], &sources[i], error);
        if (status != CULEX_OK)
            break;
        count = ops_source_count(&sources[i], carry->states);
        carry->all += count;
        ops_carry_queue(carry, names->of[i], sources[i].stats.paused);
        if (count > 0)
            status = paused_check(carry, error);
        if (status == CULEX_OK && count > 0 && carry->is_move &&
            sources[i].stats.paused_until_ms != 0)
            status = ops_usage(error,
                               "queue %s is paused for a time alone, which may be over "
                               "before all is moved: pause it without --for",
                               names->of[i]);
        carry->queue[0] = '\0';
    }
    return status;
}

static culex_status sources_carry(struct ops_carry *carry, struct ops_source *sources,
                                  const struct ops_names *names, culex_error *error)
{
    bool is_wanted = true;
    culex_status status = sources_check(carry, sources, names, error);
    if (status == CULEX_OK && !carry->is_dry && carry->all > 0)
        status = ops_ask(carry->ops, &is_wanted, error, "%s %" PRIu64 " runs of %zu queues",
                         carry->is_move ? "move" : "copy", carry->all, names->count);
    if (status != CULEX_OK || !is_wanted)
        return status;
    ops_interrupts_catch();
    for (size_t i = 0; i < names->count && status == CULEX_OK; i++)
        status = queue_carry(carry, &sources[i], error);
    return status;
}

static culex_status names_carry(struct ops_carry *carry, const struct ops_names *names,
                                culex_error *error)
{
    struct ops_source *sources = calloc(names->count + 1, sizeof *sources);
    culex_status status = sources != NULL ? sources_carry(carry, sources, names, error)
                                          : ops_fail(error, CULEX_ENOMEM, "out of memory");
    for (size_t i = 0; i < names->count && sources != NULL; i++)
        ops_source_free(&sources[i]);
    free(sources);
    return status;
}

/* Whatever its URL says of it: a handle of which nothing is lost with a crash of the machine, or
 * one that leaves that to the next one which waits for the disk. */
static culex_status source_open(struct ops *ops, const char *synchronous, culex_client **ret_client,
                                culex_error *error)
{
    const culex_client_options options = {
        .timeout_ms = ops->options.store_timeout / CULEX_MILLISECOND,
        .synchronous = synchronous,
        .url_file = ops->options.from_file,
        .must_exist = true,
    };
    return ops_name_failure(culex_client_open(ops->options.from, &options, ret_client, error),
                            ops->options.from != NULL ? "--from" : "--from-file", error);
}

static culex_status store_import(struct ops *ops, struct ops_carry *carry, culex_error *error)
{
    struct ops_names names = {.of = NULL};
    culex_status status = source_open(ops, "full", &carry->from, error);
    if (status == CULEX_OK && carry->is_move)
        status = source_open(ops, "normal", &carry->from_fast, error);
    if (status == CULEX_OK)
        status = ops_source_names(ops, carry->from, &names, error);
    if (status == CULEX_OK && !carry->is_dry)
        status = ops_store_open_new(ops, error);
    if (status == CULEX_OK)
        status = names_carry(carry, &names, error);
    ops_names_free(&names);
    culex_client_close(carry->from_fast);
    culex_client_close(carry->from);
    return status;
}

/* --- the command ------------------------------------------------------------------------------ */

static culex_status options_check(const struct ops *ops, bool is_of_store, culex_error *error)
{
    const struct ops_options *options = &ops->options;
    const unsigned carried = CULEX_LIST_STATE(CULEX_RUN_WAITING) |
                             CULEX_LIST_STATE(CULEX_RUN_SCHEDULED) |
                             CULEX_LIST_STATE(CULEX_RUN_DEAD);
    if (options->from != NULL && options->from_file != NULL)
        return ops_usage(error, "--from and --from-file: one of them");
    if (options->is_move && !is_of_store)
        return ops_usage(error, "--move: out of which store? Say --from URL");
    if (options->is_move && options->is_copy)
        return ops_usage(error, "--move and --copy: one of them");
    if (is_of_store && options->is_old)
        return ops_usage(error, "--old is about a file");
    if ((options->states & ~carried) != 0)
        return ops_usage(error, "--state: waiting, scheduled and dead runs can be imported");
    return CULEX_OK;
}

culex_status ops_import(struct ops *ops, culex_error *error)
{
    bool is_of_store = ops->options.from != NULL || ops->options.from_file != NULL;
    struct ops_carry carry;
    culex_status status = options_check(ops, is_of_store, error);
    if (status != CULEX_OK)
        return status;
    ops_carry_begin(&carry, ops);
    carry.is_dry = ops->options.is_dry;
    carry.is_move = ops->options.is_move;
    status = is_of_store ? store_import(ops, &carry, error) : file_import(ops, &carry, error);
    ops_progress_end();
    if (!ops->options.wants_json && carry.table.count > 0)
        ops_table_print(&carry.table, stdout);
    source_note(&carry);
    ops_carry_end(&carry);
    return status;
}
