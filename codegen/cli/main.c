/* main.c - culexc: finds the verb that the command line names. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "say.h"

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
    fputs("usage: culexc VERB [OPTION...] [FILE...]\n\n", out);
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

static const struct verb *verb_find(const char *name)
{
    for (size_t i = 0; i < VERB_COUNT; i++) {
        if (strcmp(name, verbs[i]->name) == 0)
            return verbs[i];
    }
    return NULL;
}

static int run_help(int argc, char **argv);

static int run_version(int argc, char **argv)
{
    (void)argc, (void)argv;
    puts("culexc " CULEXC_VERSION);
    return flush_output();
}

/* Words that are no verbs, in the spellings that people try. */
static const struct {
    const char *word;
    int (*run)(int argc, char **argv);
} words[] = {{"--help", run_help},     {"-h", run_help},          {"-help", run_help},
             {"help", run_help},       {"-?", run_help},          {"--version", run_version},
             {"version", run_version}, {"-version", run_version}, {"-V", run_version}};
enum { WORD_COUNT = sizeof(words) / sizeof(words[0]) };

/* What other tools call our verbs. */
static const struct {
    const char *word, *verb;
} foreign_verbs[] = {{"build", "gen"},    {"codegen", "gen"},    {"compile", "gen"},
                     {"generate", "gen"}, {"validate", "check"}, {"verify", "check"},
                     {"parse", "check"},  {"format", "fmt"},     {"new", "init"},
                     {"create", "init"},  {"diff", "breaking"},  {"compat", "breaking"},
                     {"docs", "doc"},     {"json", "ir"},        {"dump", "ir"},
                     {"server", "lsp"},   {"freeze", "lock"}};

static struct suggestion verb_suggest(const char *word)
{
    struct suggestion near = suggestion_start(word);
    for (size_t i = 0; i < VERB_COUNT; i++)
        suggestion_offer(&near, verbs[i]->name);
    for (size_t i = 0; i < WORD_COUNT; i++) {
        if (strncmp(words[i].word, "--", 2) == 0)
            suggestion_offer(&near, words[i].word);
    }
    for (size_t i = 0; i < sizeof(foreign_verbs) / sizeof(foreign_verbs[0]); i++) {
        if (strcmp(word, foreign_verbs[i].word) == 0)
            near.best = foreign_verbs[i].verb;
    }
    return near;
}

static int refuse_word(const char *word)
{
    size_t len = strlen(word);
    struct suggestion near = verb_suggest(word);
    if (len > 4 && strcmp(word + len - 4, ".job") == 0)
        say("a verb comes first: did you mean 'culexc check %s'?", word);
    else if (near.best != NULL)
        say("no such verb: '%s'; did you mean '%s'?", word, near.best);
    else
        say("no such verb: '%s'; 'culexc --help' lists them", word);
    return EXIT_USAGE;
}

/* "culexc help VERB" too. */
static int run_help(int argc, char **argv)
{
    char help[] = "--help";
    char *asked[] = {argv[0], argc > 2 ? argv[2] : NULL, help, NULL};
    const struct verb *verb = argc > 2 ? verb_find(argv[2]) : NULL;
    if (verb != NULL)
        return verb->run(verb, 3, asked);
    if (argc > 2)
        return refuse_word(argv[2]);
    help_print(stdout);
    return flush_output();
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "C.UTF-8"); /* How wide a character is; without it all are alike. */
    if (argc < 2) {
        help_print(stderr);
        return EXIT_USAGE;
    }
    const struct verb *verb = verb_find(argv[1]);
    if (verb != NULL)
        return verb->run(verb, argc, argv);
    for (size_t i = 0; i < WORD_COUNT; i++) {
        if (strcmp(argv[1], words[i].word) == 0)
            return words[i].run(argc, argv);
    }
    return refuse_word(argv[1]);
}
