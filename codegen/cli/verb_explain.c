/* verb_explain.c - what a diagnostic means and what to do about it. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

enum { LINE_WIDTH = 78 };

static const char *severity_text(enum diag_id id)
{
    static const char *const texts[] = {"error", "warning", "warning, given when -WID asks for it"};
    return texts[diag_default_severity(id)];
}

static void kind_print(enum diag_id id)
{
    static const char *const verbs[] = {"", "lint ", "breaking "};
    const char *tier = diag_tier(id);
    if (tier != NULL)
        printf("%s%s, ", verbs[diag_table_of(id)], tier);
    puts(severity_text(id));
}

static void list_print(void)
{
    for (int id = 0; id < DIAG_COUNT; id++) {
        printf("%-26s ", diag_slug((enum diag_id)id));
        kind_print((enum diag_id)id);
    }
}

static void prose_print(const char *text, size_t len)
{
    for (size_t at = 0, column = 0; at < len;) {
        size_t word = strcspn(text + at, " \n");
        word = word > len - at ? len - at : word;
        if (column > 0 && column + 1 + word > LINE_WIDTH) {
            putchar('\n');
            column = 0;
        }
        printf("%s%.*s", column > 0 ? " " : "", (int)word, text + at);
        column += (column > 0) + word;
        at += word;
        at += strspn(text + at, " ");
    }
    putchar('\n');
}

static int id_explain(const struct cli *cli, const char *slug)
{
    struct suggestion near;
    enum diag_id id = diag_find(slug, &near);
    if (id == DIAG_COUNT && near.best != NULL)
        return cli_misused(cli, "no diagnostic is called '%s'; did you mean '%s'?", slug,
                           near.best);
    if (id == DIAG_COUNT)
        return cli_misused(cli, "no diagnostic is called '%s'; --list lists them", slug);
    const char *text = diag_explanation(id);
    size_t prose = diag_prose_length(text);
    printf("%s: ", slug);
    kind_print(id);
    putchar('\n');
    prose_print(text, prose);
    fputs(text + prose + (text[prose] != '\0'), stdout);
    return EXIT_CLEAN;
}

static int run(const struct verb *verb, int argc, char **argv)
{
    struct cli cli;
    int status;
    bool is_list = false;
    const struct cli_option options[] = {{"--list", CLI_FLAG, &is_list}, {0}};
    if (!cli_open(&cli, verb, options, argc, argv, &status))
        return cli_close(&cli, status);
    if (is_list != (cli.files.count == 0))
        status = cli_misused(&cli, "explain takes ids, or --list");
    if (status == EXIT_CLEAN && is_list)
        list_print();
    for (size_t i = 0; i < cli.files.count && status == EXIT_CLEAN; i++) {
        if (i > 0)
            putchar('\n');
        status = id_explain(&cli, cli.files.items[i]);
    }
    return cli_close(&cli, status);
}

const struct verb verb_explain = {
    .name = "explain",
    .summary = "say what a diagnostic means and what to do about it",
    .help = "usage: culexc explain ID...\n"
            "       culexc explain --list\n"
            "Says what a diagnostic means, why it is given and what to do; --list prints all ids\n"
            "with their severity.\n",
    .run = run,
};
