/* main.c - culexc: finds the verb that the command line names. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const struct verb *const verbs[] = {
    &verb_check, &verb_ir, &verb_gen, &verb_breaking, &verb_lock,
};
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
        fprintf(stderr, "culexc: no such verb: '%s'\n", argv[1]);
    help_print(stderr);
    return EXIT_USAGE;
}
