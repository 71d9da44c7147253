/* verb_lsp.c - serves an editor. */
#include <signal.h>
#include <unistd.h>

#include "cli.h"
#include "server.h"

static int serve(const struct cli *cli, const struct texts *include_dirs, const struct texts *tiers)
{
    struct server_options options = {.in = STDIN_FILENO,
                                     .out = STDOUT_FILENO,
                                     .include_dirs = include_dirs->items,
                                     .include_count = include_dirs->count};
    if (cli->files.count > 0)
        return cli_misused(cli, "lsp takes no file");
    if (!cli_tiers(cli, tiers, &options.tiers))
        return EXIT_USAGE;
    signal(SIGPIPE, SIG_IGN);
    return server_run(&options);
}

static int run(const struct verb *verb, int argc, char **argv)
{
    struct cli cli;
    int status;
    bool is_stdio = false; /* Some editors pass it always; there is nothing else. */
    struct texts include_dirs = {0}, tiers = {0};
    const struct cli_option options[] = {{"--stdio", CLI_FLAG, &is_stdio},
                                         {"-I", CLI_LIST, &include_dirs},
                                         {"--tier", CLI_LIST, &tiers},
                                         {0}};
    if (cli_open(&cli, verb, options, argc, argv, &status))
        status = serve(&cli, &include_dirs, &tiers);
    texts_release(&include_dirs);
    texts_release(&tiers);
    return cli_close(&cli, status);
}

const struct verb verb_lsp = {
    .name = "lsp",
    .summary = "serve an editor: the Language Server Protocol",
    .help = "usage: culexc lsp [-I DIR]... [--tier TIER]... [--stdio]\n"
            "Speaks the Language Server Protocol 3.17 on standard input and output: diagnostics,\n"
            "hover, definition, references, rename, completion, outline, search, colours,\n"
            "folding, formatting and quick fixes for what an editor has open. It is started by\n"
            "the editor; schemas/README.md shows how.\n"
            "With --tier it also shows what culexc lint finds in that tier.\n"
            "Exit status: 0 after the messages shutdown and exit, 1 when it ended otherwise.\n",
    .run = run,
};
