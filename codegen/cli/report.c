#include "report.h"

#include <assert.h>

#include "diag_print.h"
#include "say.h"

void cli_report_begin(struct cli *cli)
{
    cli->said = arena_alloc(&cli->arena, sizeof(*cli->said));
    map_init(cli->said, &cli->arena);
    if (cli->format == FORMAT_SARIF)
        cli->sarif = arena_alloc(&cli->arena, sizeof(*cli->sarif));
    if (cli->format == FORMAT_JUNIT)
        junit_init(cli->junit = arena_alloc(&cli->arena, sizeof(*cli->junit)));
}

static FILE *report_stream(const struct cli *cli)
{
    bool is_for_people = cli->format == FORMAT_HUMAN || cli->format == FORMAT_SHORT;
    bool is_result = (cli->verb->shares & CLI_REPORTS) != 0 && !cli->is_output_taken;
    return is_for_people || !is_result ? stderr : stdout;
}

static void print_left_out(const struct diag_sink *sink)
{
    if (sink->is_full)
        say("more than %u errors; the rest is not shown", sink->errors);
    if (sink->has_more_warnings)
        say("more than %u warnings; the rest is not shown", sink->warnings);
}

static bool is_said(const struct cli *cli, const struct diag *diag)
{
    struct arena *arena = cli->said->arena;
    const struct source *source = diag->span.source;
    const char *path = path_resolve(arena, source->path);
    const char *key =
        arena_printf(arena, "%s:%u:%u:%s:%s", path == NULL ? source->path : path, diag->span.offset,
                     diag->span.length, diag_slug(diag->id), diag->text);
    return map_add(cli->said, key, cli->said) != NULL;
}

/* Each file that is named is compiled with its imports, and what is wrong in them is the same
 * every time. */
static void drop_said(const struct cli *cli, struct diag_sink *sink)
{
    struct diag **at = &sink->first;
    while (*at != NULL) {
        if (!is_said(cli, *at)) {
            at = &(*at)->next;
            continue;
        }
        unsigned *count = (*at)->severity == DIAG_ERROR ? &sink->errors : &sink->warnings;
        assert(*count > 0); /* All in the list were counted. */
        *count -= 1;
        *at = (*at)->next;
    }
}

int cli_report(const struct cli *cli, struct compilation *compilation)
{
    return cli_report_sink(cli, &compilation->sink);
}

int cli_report_sink(const struct cli *cli, struct diag_sink *sink)
{
    bool is_strict = (cli->verb->shares & CLI_STRICT) != 0;
    assert(cli->said != NULL); /* cli_report_begin() was called. */
    FILE *out = report_stream(cli);
    const struct diag_sink whole = *sink;
    diag_sort(sink);
    drop_said(cli, sink);
    switch (cli->format) {
    case FORMAT_HUMAN:
        diag_print_human(sink, out, cli->is_coloured);
        break;
    case FORMAT_SHORT:
        diag_print_short(sink, out);
        break;
    case FORMAT_JSON:
        diag_print_json(sink, out);
        break;
    case FORMAT_GITHUB:
        diag_print_github(sink, out);
        break;
    case FORMAT_SARIF:
        sarif_add(cli->sarif, sink);
        break;
    case FORMAT_JUNIT:
        junit_add(cli->junit, sink, is_strict);
        break;
    }
    print_left_out(&whole);
    bool has_failed = whole.errors > 0 || (is_strict && whole.first != NULL);
    return has_failed ? EXIT_DIAGNOSTICS : EXIT_CLEAN;
}

void cli_report_end(struct cli *cli, int status)
{
    bool is_complete = status != EXIT_BROKEN;
    if (cli->sarif != NULL && status != EXIT_USAGE)
        sarif_print(cli->sarif, report_stream(cli), is_complete);
    if (cli->junit != NULL && status != EXIT_USAGE)
        junit_print(cli->junit, report_stream(cli), cli->verb->name, &cli->files, is_complete);
}
