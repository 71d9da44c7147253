/* verb_check.c - says what is wrong with schemas, and mends what is plain. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "fix.h"
#include "output.h"
#include "diag_print.h"

/* A fix may uncover what another one is for. */
enum { FIX_ROUNDS = 10 };

struct tally {
    unsigned fixes, errors, warnings;
    bool is_broken; /* a file could not be read or written */
};

/* Writes the file with all fixes that agree with each other, and counts them. False when there
 * were none, or after a message that the file cannot be written. */
static bool round_apply(struct compilation *compilation, const struct module *module,
                        struct tally *tally)
{
    struct buf text = {0};
    unsigned fixed = fix_apply(&compilation->sink, module->source, &text);
    if (fixed > 0 && !output_replace(module->path, text.data, text.len)) {
        diag_say("cannot write '%s': %s", module->path, strerror(errno));
        tally->is_broken = true;
        fixed = 0;
    }
    buf_release(&text);
    tally->fixes += fixed;
    return fixed > 0;
}

/* False after a message that the file cannot be read. */
static bool file_fix(const struct cli *cli, const char *path, struct tally *tally)
{
    bool is_read = true, is_going_on = true;
    for (int round = 0; round < FIX_ROUNDS && is_going_on; round++) {
        struct compilation compilation;
        compilation_init(&compilation);
        const struct module *module = cli_load(cli, &compilation, path);
        is_read = module != NULL;
        is_going_on = is_read && round_apply(&compilation, module, tally);
        compilation_release(&compilation);
    }
    return is_read;
}

/* A file that cannot be read is not looked at again. */
static void files_fix(struct cli *cli, struct tally *tally)
{
    size_t kept = 0;
    for (size_t i = 0; i < cli->files.count; i++) {
        if (file_fix(cli, cli->files.items[i], tally))
            cli->files.items[kept++] = cli->files.items[i];
        else
            tally->is_broken = true;
    }
    cli->files.count = kept;
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
    if (is_fixing)
        files_fix(&cli, &tally);
    status = tally.is_broken ? EXIT_BROKEN : EXIT_CLEAN;
    for (size_t i = 0; i < cli.files.count; i++)
        status = cli_worse(status, file_check(&cli, cli.files.items[i], &tally));
    if (is_fixing)
        diag_say("fixes applied: %u; left: errors %u, warnings %u", tally.fixes, tally.errors,
                 tally.warnings);
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
