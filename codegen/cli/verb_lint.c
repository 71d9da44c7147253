/* verb_lint.c - checks valid schemas for style and risks. */
#include "cli.h"
#include "lint.h"

/* What the files use of each other is known before the first of them is judged. */
static void uses_find(const struct cli *cli, struct lint_uses *uses)
{
    for (size_t i = 0; i < cli->files.count; i++) {
        struct compilation compilation;
        const char *fault;
        compilation_init(&compilation);
        if (cli_load_silently(cli, &compilation, cli->files.items[i], &fault) != NULL)
            lint_uses_add(uses, &compilation);
        compilation_release(&compilation);
    }
}

static int file_lint(const struct cli *cli, unsigned tiers, const char *path,
                     const struct lint_uses *uses)
{
    struct compilation compilation;
    int status = EXIT_BROKEN;
    compilation_init(&compilation);
    const struct module *module = cli_load(cli, &compilation, path);
    if (module != NULL) {
        if (!compilation.sink.has_faults)
            lint_module(&compilation, module, tiers, uses);
        status = cli_report(cli, &compilation);
    }
    compilation_release(&compilation);
    return status;
}

static int files_lint(struct cli *cli, unsigned tiers)
{
    struct lint_uses uses;
    int status = EXIT_CLEAN;
    bool is_alone = cli->files.count < 2;
    lint_uses_init(&uses, &cli->arena);
    if (!is_alone)
        uses_find(cli, &uses);
    for (size_t i = 0; i < cli->files.count; i++)
        status =
            cli_worse(status, file_lint(cli, tiers, cli->files.items[i], is_alone ? NULL : &uses));
    return status;
}

static int run(const struct verb *verb, int argc, char **argv)
{
    struct cli cli;
    int status;
    unsigned tiers;
    struct texts words = {0};
    const struct cli_option options[] = {{"--tier", CLI_LIST, &words}, {0}};
    if (cli_open(&cli, verb, options, argc, argv, &status)) {
        if (!cli_tiers(&cli, &words, &tiers))
            status = EXIT_USAGE;
        if (words.count == 0)
            tiers = cli.project.tiers != 0 ? cli.project.tiers : lint_tiers_named("standard");
        if (status != EXIT_USAGE)
            status = files_lint(&cli, tiers);
    }
    texts_release(&words);
    return cli_close(&cli, status);
}

const struct verb verb_lint = {
    .name = "lint",
    .summary = "check valid schemas for style and risks",
    .help =
        "usage: culexc lint [OPTION...] [--tier TIER]... [FILE...]\n"
        "Checks valid schemas for style and risks; exit status 1 when a rule is broken.\n"
        "Tiers, each with those before it: minimal (what is probably a mistake), basic (names),\n"
        "standard (the default, unless the project names others), strict (every bound set);\n"
        "comments (everything documented) stands alone; --tier may be given again. A type counts\n"
        "as used when another file of the call uses it.\n",
    .shares = CLI_SCHEMAS | CLI_REPORTS | CLI_STRICT,
    .run = run,
};
