/* verb_check.c - says what is wrong with schemas. */
#include "cli.h"

/* Each file is a compilation of its own, so that what one names does not matter to another. */
static int file_check(const struct cli *cli, const char *path)
{
    struct compilation compilation;
    int status = EXIT_BROKEN;
    compilation_init(&compilation);
    if (cli_load(cli, &compilation, path) != NULL)
        status = cli_report(cli, &compilation);
    compilation_release(&compilation);
    return status;
}

static int run(const struct verb *verb, int argc, char **argv)
{
    struct cli cli;
    int status;
    if (cli_open(&cli, verb, NULL, argc, argv, &status)) {
        for (size_t i = 0; i < cli.files.count; i++)
            status = cli_worse(status, file_check(&cli, cli.files.items[i]));
    }
    return cli_close(&cli, status);
}

const struct verb verb_check = {
    .name = "check",
    .summary = "say what is wrong with schemas",
    .help = "usage: culexc check [-I DIR]... [--message-format=human|json] FILE...\n"
            "Says what is wrong with schemas, on standard error.\n",
    .shares = CLI_SCHEMAS,
    .run = run,
};
