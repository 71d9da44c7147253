/* cli.c - a verb's call from its command line to its exit status. */
#include "cli.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "options.h"
#include "report.h"

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
    bool is_terminal = isatty(STDOUT_FILENO) != 0;
    for (size_t at = 0; at < len;) {
        size_t length = culex__utf8_char(text + at, len - at);
        uint32_t code = culex__utf8_code(text + at, length);
        bool is_plain =
            length > 0 && (!culex__utf8_is_deceptive(code) || code == '\t' || code == '\n');
        if (is_terminal && !is_plain)
            fputc('?', stdout);
        else
            fwrite(text + at, 1, length == 0 ? 1 : length, stdout);
        at += length == 0 ? 1 : length;
    }
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
