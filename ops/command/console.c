/* ops/command/console.c - culex console: becomes culex-console, which has the HTTP server in it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/print.h"

static const char program[] = "culex-console";

/* The one beside this program, where there is one. */
static void beside_run(char **words)
{
    char path[4096];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - sizeof program);
    char *slash = len > 0 ? memrchr(path, '/', (size_t)len) : NULL;
    if (slash == NULL)
        return;
    strcpy(slash + 1, program);
    execv(path, words);
}

culex_status ops_console(struct ops *ops, culex_error *error)
{
    size_t at = 1;
    while (ops->words[at] != ops->arguments[-1]) /* the word of the command itself */
        at++;
    ops->words[0] = (char *)(size_t)program;
    for (; ops->words[at] != NULL; at++)
        ops->words[at] = ops->words[at + 1];
    beside_run(ops->words);
    execvp(program, ops->words);
    return ops_fail(error, CULEX_EUNSUPPORTED,
                    "console: %s cannot be run: %s; it is there where Culex was built with "
                    "libmicrohttpd",
                    program, strerror(errno));
}
