/* cli.c - a verb's call from its command line to its exit status. */
#include "cli.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "report.h"
#include "shown.h"

bool cli_open(struct cli *cli, const struct verb *verb, const struct cli_option *options, int argc,
              char **argv, int *ret_status)
{
    *cli = (struct cli){.verb = verb};
    *ret_status = EXIT_CLEAN;
    if (cli_is_help_asked(argc, argv)) {
        fputs(verb->help, stdout);
        fputs((verb->shares & CLI_SCHEMAS) != 0 ? cli_shared_help : "", stdout);
        return false;
    }
    assert(argc >= 2); /* argv[1] is the verb */
    cli->policy = arena_alloc(&cli->arena, sizeof(*cli->policy));
    if (!cli_words_read(cli, options, argc, argv)) {
        *ret_status = EXIT_USAGE;
        return false;
    }
    cli_report_begin(cli);
    return !(verb->shares & CLI_SCHEMAS) || cli_files_open(cli);
}

void cli_print(const char *text, size_t len)
{
    if (isatty(STDOUT_FILENO) == 0) {
        fwrite(text, 1, len, stdout);
        return;
    }
    struct buf shown = {0};
    shown_append(&shown, text, len, "\t\n");
    fwrite(shown.data, 1, shown.len, stdout);
    buf_release(&shown);
}

int cli_worse(int a, int b)
{
    return a > b ? a : b;
}

int cli_close(struct cli *cli, int status)
{
    status = cli_worse(status, cli->status);
    cli_report_end(cli, status);
    arena_release(&cli->arena);
    texts_release(&cli->files);
    texts_release(&cli->folders);
    texts_release(&cli->include_dirs);
    project_release(&cli->project);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fputs("culexc: cannot write the output\n", stderr);
    return EXIT_BROKEN;
}
