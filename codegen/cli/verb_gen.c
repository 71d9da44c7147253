/* verb_gen.c - generates C from schemas. */
#include "cli.h"
#include "gen.h"

struct target {
    const char *out, *depfile, *export_macro;
};

static int file_generate(const struct cli *cli, const struct target *target, const char *path)
{
    struct compilation compilation;
    int status = EXIT_BROKEN;
    compilation_init(&compilation);
    struct module *module = cli_load(cli, &compilation, path);
    if (module != NULL) {
        check_supported(&compilation, module);
        status = cli_report(cli, &compilation);
    }
    if (status == EXIT_CLEAN &&
        !gen_write(&compilation, module, target->out, target->depfile, target->export_macro))
        status = EXIT_BROKEN;
    compilation_release(&compilation);
    return status;
}

static int run(const struct verb *verb, int argc, char **argv)
{
    struct cli cli;
    int status;
    struct target target = {0};
    const struct cli_option options[] = {
        {"--out", CLI_TEXT, &target.out},
        {"--depfile", CLI_TEXT, &target.depfile},
        {"--export-macro", CLI_TEXT, &target.export_macro},
        {0},
    };
    if (!cli_open(&cli, verb, options, argc, argv, &status))
        return cli_close(&cli, status);
    if (target.out == NULL || (target.depfile != NULL && cli.files.count != 1))
        status = cli_misused(&cli, "gen needs --out DIR, and one file when there is a --depfile");
    else if (!cli_macro_is_good(&cli, target.export_macro))
        status = EXIT_USAGE;
    for (size_t i = 0; status != EXIT_USAGE && i < cli.files.count; i++)
        status = cli_worse(status, file_generate(&cli, &target, cli.files.items[i]));
    return cli_close(&cli, status);
}

const struct verb verb_gen = {
    .name = "gen",
    .summary = "generate C from schemas",
    .help = "usage: culexc gen [-I DIR]... --out DIR [--depfile FILE] [--export-macro NAME]\n"
            "                  [FILE...]\n"
            "Writes NAME_job.h and NAME_job.c for each NAME.job, only if they change.\n"
            "Environment: CULEX_PYTHON, the Python to use; CULEX_DATADIR, the renderer's folder.\n",
    .shares = CLI_SCHEMAS,
    .run = run,
};
