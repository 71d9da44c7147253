/* verb_gen.c - generates C from schemas. */
#include "cli.h"
#include "gen.h"
#include "schemas.h"

static int files_generate(struct cli *cli, const struct gen_order *order)
{
    static const int statuses[] = {
        [GEN_DONE] = EXIT_CLEAN, [GEN_DIFFERS] = EXIT_DIAGNOSTICS, [GEN_FAILED] = EXIT_BROKEN};
    struct schemas schemas;
    int status = schemas_load(cli, true, &schemas);
    if (schemas.clean_count > 0)
        status = cli_worse(status, statuses[gen_run(order, schemas.clean, schemas.clean_count)]);
    schemas_release(&schemas);
    return status;
}

static bool order_check(const struct cli *cli, const struct gen_order *order)
{
    if (order->out == NULL || (order->depfile != NULL && cli->files.count != 1))
        cli_misused(cli, "gen needs --out DIR, and one file when there is a --depfile");
    else if (order->depfile != NULL && order->is_check)
        cli_misused(cli, "--check writes nothing, so it takes no --depfile");
    else
        return cli_macro_is_good(cli, order->export_macro);
    return false;
}

static int run(const struct verb *verb, int argc, char **argv)
{
    struct cli cli;
    int status;
    struct gen_order order = {0};
    const struct cli_option options[] = {
        {"--out", CLI_TEXT, &order.out},
        {"--check", CLI_FLAG, &order.is_check},
        {"--depfile", CLI_TEXT, &order.depfile},
        {"--export-macro", CLI_TEXT, &order.export_macro},
        {0},
    };
    if (!cli_open(&cli, verb, options, argc, argv, &status))
        return cli_close(&cli, status);
    status = order_check(&cli, &order) ? files_generate(&cli, &order) : EXIT_USAGE;
    return cli_close(&cli, status);
}

const struct verb verb_gen = {
    .name = "gen",
    .summary = "generate C from schemas",
    .help = "usage: culexc gen [-I DIR]... --out DIR [--check | --depfile FILE]\n"
            "                  [--export-macro NAME] [FILE...]\n"
            "Writes NAME_job.h and NAME_job.c for each NAME.job, only if they change.\n"
            "  --check    write nothing; name the files that would change, exit status 1\n"
            "Environment: CULEX_PYTHON, the Python to use; CULEX_DATADIR, the renderer's folder.\n",
    .shares = CLI_SCHEMAS,
    .run = run,
};
