/* verb_check.c - says what is wrong with schemas, and mends what is plain. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "fix.h"
#include "output.h"

/* A fix may uncover what another one is for. */
enum { FIX_ROUNDS = 10 };

struct tally {
    unsigned fixes, errors, warnings;
};

/* Writes the file with all fixes that agree with each other: their number, -1 after a message. */
static int round_apply(const struct cli *cli, const char *path)
{
    struct compilation compilation;
    struct buf text = {0};
    unsigned fixed = 0;
    compilation_init(&compilation);
    const struct module *module = cli_load(cli, &compilation, path);
    bool is_good = module != NULL;
    if (is_good)
        fixed = fix_apply(&compilation.sink, module->source, &text);
    if (fixed > 0 && !output_replace(path, text.data, text.len)) {
        fprintf(stderr, "culexc: cannot write '%s': %s\n", path, strerror(errno));
        is_good = false;
    }
    buf_release(&text);
    compilation_release(&compilation);
    return is_good ? (int)fixed : -1;
}

static bool file_fix(const struct cli *cli, const char *path, struct tally *tally)
{
    int fixed = 1;
    for (int round = 0; round < FIX_ROUNDS && fixed > 0; round++) {
        fixed = round_apply(cli, path);
        tally->fixes += fixed > 0 ? (unsigned)fixed : 0;
    }
    return fixed >= 0;
}

/* Each file is a compilation of its own, so that what one names does not matter to another. */
static int file_check(const struct cli *cli, const char *path, struct tally *tally)
{
    struct compilation compilation;
    int status = EXIT_BROKEN;
    compilation_init(&compilation);
    if (cli_load(cli, &compilation, path) != NULL)
        status = cli_report(cli, &compilation);
    tally->errors += compilation.sink.errors;
    tally->warnings += compilation.sink.warnings;
    compilation_release(&compilation);
    return status;
}

static int run(const struct verb *verb, int argc, char **argv)
{
    struct cli cli;
    int status;
    bool is_fixing = false;
    struct tally tally = {0};
    const struct cli_option options[] = {{"--fix", CLI_FLAG, &is_fixing}, {0}};
    if (!cli_open(&cli, verb, options, argc, argv, &status))
        return cli_close(&cli, status);
    for (size_t i = 0; i < cli.files.count; i++) {
        if (is_fixing && !file_fix(&cli, cli.files.items[i], &tally))
            status = EXIT_BROKEN;
    }
    for (size_t i = 0; i < cli.files.count; i++)
        status = cli_worse(status, file_check(&cli, cli.files.items[i], &tally));
    if (is_fixing)
        fprintf(stderr, "culexc: fixes applied: %u; left: errors %u, warnings %u\n", tally.fixes,
                tally.errors, tally.warnings);
    return cli_close(&cli, status);
}

const struct verb verb_check = {
    .name = "check",
    .summary = "say what is wrong with schemas",
    .help = "usage: culexc check [OPTION...] [--fix] FILE...\n"
            "Says what is wrong with schemas.\n"
            "  --fix                   apply the fixes whose meaning is plain to the files named,\n"
            "                          not to what they import, and check again\n",
    .shares = CLI_SCHEMAS | CLI_REPORTS,
    .run = run,
};
