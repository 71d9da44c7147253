/* clashes.c - all files of a command line as one compilation, for what only shows there. */
#include "clashes.h"

#include "clash.h"
#include "say.h"

static void files_load(const struct texts *files, struct compilation *compilation)
{
    const char *fault;
    for (size_t i = 0; i < files->count; i++)
        compilation_load(compilation, files->items[i], &fault);
}

/* How many cannot be read; no other part of the program tells of these. */
static unsigned beside_load(const struct texts *files, struct compilation *compilation)
{
    const char *fault;
    unsigned faults = 0;
    for (size_t i = 0; i < files->count; i++) {
        if (compilation_load(compilation, files->items[i], &fault) != NULL)
            continue;
        say_unread(files->items[i], fault);
        faults++;
    }
    return faults;
}

static void files_check(struct compilation *compilation)
{
    for (struct module *module = compilation->modules; module != NULL; module = module->next)
        check_module(compilation, module);
}

unsigned clashes_report(const struct cli *cli, const struct clashes *clashes, int *ret_status)
{
    struct compilation compilation;
    compilation_init(&compilation);
    compilation.include_dirs = cli->include_dirs.items;
    compilation.include_count = cli->include_dirs.count;
    compilation.overlays = clashes->overlays;
    /* First, so that the others are said to clash. */
    unsigned faults = beside_load(&clashes->beside, &compilation);
    files_load(&cli->files, &compilation);
    if (compilation.count >
        1) /* One file clashes with none, and to check it is half of the time. */
        files_check(&compilation);
    diag_sink_init(&compilation.sink, &compilation.arena); /* What a file says by itself. */
    compilation.sink.policy = cli->policy;
    clash_check(&compilation, clashes->is_one_folder);
    *ret_status = cli_report(cli, &compilation);
    *ret_status = faults > 0 ? cli_worse(*ret_status, EXIT_BROKEN) : *ret_status;
    unsigned errors = compilation.sink.errors + faults;
    compilation_release(&compilation);
    return errors;
}
