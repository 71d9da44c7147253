/* clashes.c - all files of a command line as one compilation, for what only shows there. */
#include "clashes.h"

#include "clash.h"

static void files_load(const struct cli *cli, struct compilation *compilation)
{
    const char *fault;
    compilation->include_dirs = cli->include_dirs.items;
    compilation->include_count = cli->include_dirs.count;
    for (size_t i = 0; i < cli->files.count; i++) {
        struct module *module = compilation_load(compilation, cli->files.items[i], &fault);
        if (module != NULL)
            check_module(compilation, module);
    }
}

int clashes_report(const struct cli *cli, const struct overlay *overlays, bool is_one_folder,
                   unsigned *errors)
{
    struct compilation compilation;
    compilation_init(&compilation);
    compilation.overlays = overlays;
    files_load(cli, &compilation);
    diag_sink_init(&compilation.sink, &compilation.arena); /* What a file says by itself. */
    compilation.sink.policy = cli->policy;
    clash_check(&compilation, is_one_folder);
    int status = cli_report(cli, &compilation);
    *errors += compilation.sink.errors;
    compilation_release(&compilation);
    return status;
}
