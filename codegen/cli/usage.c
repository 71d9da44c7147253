/* usage.c - a command line that cannot be meant. */
#include <stdarg.h>
#include <stdio.h>

#include "cli.h"
#include "say.h"

int cli_misused(const struct cli *cli, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsay(format, args);
    va_end(args);
    fputs(cli->verb->help, stderr);
    return EXIT_USAGE;
}
