/* main.c - culexc: finds the verb that the command line names. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "diag_print.h"

/* In the order of the help. */
/* clang-format off */
static const struct verb *const verbs[] = {
    &verb_check,
    &verb_explain,
    &verb_fmt,
    &verb_lint,
    &verb_ir,
    &verb_gen,
    &verb_doc,
    &verb_lock,
    &verb_breaking,
    &verb_init,
    &verb_lsp,
};
/* clang-format on */
enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]) };

static void help_print(FILE *out)
{
    fputs("usage: culexc VERB [OPTION...] FILE...\n\n", out);
    for (size_t i = 0; i < VERB_COUNT; i++)
        fprintf(out, "  %-9s %s\n", verbs[i]->name, verbs[i]->summary);
    fputs("\nculexc VERB --help tells more. Exit status: 0 clean, 1 diagnostics, 2 usage,\n"
          "3 input, output or internal failure.\n",
          out);
}

static int flush_output(void)
{
    if (fflush(stdout) == 0)
        return EXIT_CLEAN;
    fputs("culexc: cannot write the output\n", stderr);
    return EXIT_BROKEN;
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "C.UTF-8"); /* How wide a character is; without it all are alike. */
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        help_print(stdout);
        return flush_output();
    }
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        puts("culexc " CULEXC_VERSION);
        return flush_output();
    }
    for (size_t i = 0; argc > 1 && i < VERB_COUNT; i++) {
        if (strcmp(argv[1], verbs[i]->name) == 0)
            return verbs[i]->run(verbs[i], argc, argv);
    }
    if (argc > 1)
        diag_say("no such verb: '%s'", argv[1]);
    help_print(stderr);
    return EXIT_USAGE;
}
