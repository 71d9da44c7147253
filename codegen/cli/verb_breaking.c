/* verb_breaking.c - says what a change of schemas breaks. */
#include <string.h>

#include "against.h"
#include "change.h"
#include "cli.h"
#include "live.h"

struct question {
    const char *against, *mode, *live;
    struct texts categories;
};

static bool category_read(const char *word, unsigned *categories)
{
    static const struct {
        const char *word;
        unsigned category;
    } known[] = {{"stored", CHANGE_STORED}, {"source", CHANGE_SOURCE}, {"ops", CHANGE_OPS}};
    for (; *word != '\0'; word += strcspn(word, ",") + (word[strcspn(word, ",")] == ',')) {
        size_t len = strcspn(word, ",");
        size_t at = 0;
        while (at < 3 && (strlen(known[at].word) != len || strncmp(known[at].word, word, len) != 0))
            at++;
        if (at == 3)
            return false;
        *categories |= known[at].category;
    }
    return true;
}

static bool question_read(const struct cli *cli, const struct question *question,
                          struct change *change)
{
    change->is_drain = strcmp(question->mode, "drain") == 0;
    if (question->against == NULL)
        return cli_misused(cli, "breaking needs --against, or a project with a lock"), false;
    if (!change->is_drain && strcmp(question->mode, "rolling") != 0)
        return cli_misused(cli, "no such mode: '%s'", question->mode), false;
    for (size_t i = 0; i < question->categories.count; i++) {
        if (!category_read(question->categories.items[i], &change->categories))
            return cli_misused(cli, "no such category: '%s'", question->categories.items[i]), false;
    }
    if (question->categories.count == 0)
        change->categories = CHANGE_ALL;
    return true;
}

/* False after a message or report. */
static bool sides_load(struct against *against, const struct question *question,
                       struct change *change)
{
    if (question->live != NULL) {
        change->live = live_load(change->sink, question->live);
        if (change->live == NULL)
            return false;
    }
    change->before = against_load(against, question->against);
    return change->before != NULL;
}

/* All files are one schema: a job that is in none of them was removed. */
static int all_compare(const struct cli *cli, const struct question *question, struct change change)
{
    struct compilation compilation;
    struct against against;
    compilation_init(&compilation);
    int status = cli_load_all(cli, &compilation);
    const struct against_files own = {&cli->files, &cli->folders, &cli->project, cli->is_project};
    against_init(&against, &compilation, &own);
    if (status == EXIT_CLEAN && compilation.sink.errors == 0) {
        change.arena = &compilation.arena;
        change.sink = &compilation.sink;
        change.after = lock_make(&compilation);
        if (compilation.sink.errors > 0) /* Declared in two files. */
            status = EXIT_DIAGNOSTICS;
        else if (sides_load(&against, question, &change))
            change_compare(&change);
        else if (compilation.sink.errors == 0)
            status = EXIT_BROKEN;
    }
    status = cli_worse(status, cli_report(cli, &compilation));
    against_release(&against);
    compilation_release(&compilation);
    return status;
}

static int run(const struct verb *verb, int argc, char **argv)
{
    struct cli cli;
    int status;
    struct question question = {.mode = "rolling"};
    struct change change = {0};
    const struct cli_option options[] = {
        {"--against", CLI_TEXT, &question.against},
        {"--mode", CLI_TEXT, &question.mode},
        {"--category", CLI_LIST, &question.categories},
        {"--live", CLI_TEXT, &question.live},
        {0},
    };
    bool is_open = cli_open(&cli, verb, options, argc, argv, &status);
    if (question.against == NULL)
        question.against = cli.project.lock;
    if (is_open)
        status = question_read(&cli, &question, &change) ? all_compare(&cli, &question, change)
                                                         : EXIT_USAGE;
    texts_release(&question.categories);
    return cli_close(&cli, status);
}

const struct verb verb_breaking = {
    .name = "breaking",
    .summary = "say what a change of schemas breaks",
    .help = "usage: culexc breaking [--against LOCK|FILE.job|DIR|git:REF] [--mode rolling|drain]\n"
            "                       [--category stored,source,ops] [--live LISTING]\n"
            "                       [OPTION...] [FILE...]\n"
            "Compares schemas with what they were: in a lock, in another file, in a folder of\n"
            "files, or in version control. All FILEs together are the schema as it is now.\n"
            "Without --against it is the lock of the project. A commit is read with its own\n"
            "culex.yaml.\n"
            "Mode rolling (the default): old and new programs run side by side. Mode drain: no\n"
            "old worker is left, only what they stored.\n"
            "With --live (- is standard input) only versions count of which a store has runs: one\n"
            "{\"job\":NAME,\"fingerprint\":HEX} a line, and {\"complete\":true} at the end, as\n"
            "culex-live prints them.\n"
            "An error is never safe; a warning is safe once every worker is new.\n",
    .shares = CLI_SCHEMAS | CLI_REPORTS,
    .run = run,
};
