/* settings/help.c - the text of --help, from the table of options. */
#include <string.h>

#include "settings/option.h"

static void help_row(FILE *out, const struct culex_option *option)
{
    char head[32];
    bool is_long = option->value != NULL && strlen(option->name) + strlen(option->value) > 21;
    snprintf(head, sizeof head, "--%s%s%s", option->name, option->value != NULL ? " " : "",
             option->value != NULL && !is_long ? option->value
             : is_long                         ? "LEVEL"
                                               : "");
    fprintf(out, "  %-24s ", head);
    for (const char *at = option->help; *at != '\0'; at++) {
        if (*at == '\n')
            fprintf(out, "\n%27s", "");
        else
            fputc(*at, out);
    }
    if (is_long)
        fprintf(out, "\n%27s%s", "", option->value);
    fputc('\n', out);
}

static const struct {
    const char *head;
    const char *tail;
} helps[] = {
    {"Runs background jobs until SIGINT, SIGTERM or SIGHUP; a second one skips the\n"
     "grace, a second SIGHUP does not.\n",
     "Every option has a variable: CULEX_URL, CULEX_IDLE_WAIT, ... CULEX_DRAIN=1.\n"
     "One that is set but empty is refused.\n"
     "The file of options wins over the default in brackets, a variable over the file,\n"
     "the store's URL (?prefix=, ?store-timeout=, ?synchronous=) over the variable,\n"
     "an option over all.\n"
     "Times are written like 500ms, 30s, 1.5s, 5m, 2h, 1d.\n"
     "Exit status:\n"
     "  0  stopped or drained\n"
     "  1  failed: could not be set up, or could not go on\n"
     "  2  wrong usage\n"
     "  3  stopped, but the store was not told how some runs ended\n"
     "  4  the store's file was removed, replaced, emptied or cut off\n"
     "  5  drained, except runs of jobs without a handler here\n"},
    {"Lists which versions of the jobs' schemas the runs in a store were encoded with,\n"
     "one JSON object a line, sorted by queue, job and fingerprint:\n"
     "  "
     "{\"job\":\"shop.send\",\"fingerprint\":\"9c1f0e7ab2d44e10\",\"queue\":\"mail\",\"runs\":12,\n"
     "   \"oldest_ms\":1750000000000,\"scheduled\":0,\"waiting\":12,\"active\":0,\"dead\":0}\n"
     "`runs` counts those that may still be executed; an operator may retry dead ones.\n",
     "Variables as for workers: CULEX_URL, CULEX_URL_FILE, CULEX_PASSWORD,\n"
     "CULEX_PREFIX, CULEX_STORE_TIMEOUT, CULEX_SYNCHRONOUS.\n"
     "Exit status: 0 listed, 1 the store failed, 2 wrong usage, 3 output failed.\n"},
};

void culex__settings_help(FILE *out, enum culex_program owner, const char *program)
{
    fprintf(out, "Usage: %s [OPTION]...\n%s\n", program, helps[owner].head);
    for (size_t i = 0; i < culex__option_count; i++) {
        if (culex__option_is_for(&culex__options[i], owner))
            help_row(out, &culex__options[i]);
    }
    fprintf(out, "\n%s", helps[owner].tail);
}
