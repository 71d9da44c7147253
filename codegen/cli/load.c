/* load.c - schemas of the command line, read and checked. */
#include "cli.h"
#include "diag_print.h"
#include "say.h"

struct module *cli_load_silently(const struct cli *cli, struct compilation *compilation,
                                 const char *path, const char **ret_fault)
{
    compilation->include_dirs = cli->include_dirs.items;
    compilation->include_count = cli->include_dirs.count;
    compilation->project = cli->project.path;
    compilation->sink.policy = cli->policy;
    struct module *module = compilation_load(compilation, path, ret_fault);
    if (module != NULL)
        check_module(compilation, module);
    return module;
}

struct module *cli_load(const struct cli *cli, struct compilation *compilation, const char *path)
{
    const char *fault;
    struct module *module = cli_load_silently(cli, compilation, path, &fault);
    if (module == NULL)
        say_unread(path, fault);
    if (module == NULL && cli->junit != NULL)
        junit_add_fault(cli->junit, path, fault);
    return module;
}

int cli_load_all(const struct cli *cli, struct compilation *compilation)
{
    int status = cli->status; /* What is missing must not look as if it had been removed. */
    for (size_t i = 0; i < cli->files.count; i++) {
        if (cli_load(cli, compilation, cli->files.items[i]) == NULL)
            status = EXIT_BROKEN;
    }
    return status;
}
