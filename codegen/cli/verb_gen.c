/* verb_gen.c - generates C, or what a plug-in makes, from schemas. */
#include <stdlib.h>
#include <string.h>

#include "clashes.h"
#include "cli.h"
#include "gen.h"
#include "limits.h"
#include "schemas.h"

/* What the plug-in says of a schema comes after what the compiler said of it. */
static int order_run(const struct cli *cli, const struct gen_order *order, struct schemas *schemas)
{
    static const int statuses[] = {[GEN_DONE] = EXIT_CLEAN,
                                   [GEN_DIFFERS] = EXIT_DIAGNOSTICS,
                                   [GEN_REFUSED] = EXIT_DIAGNOSTICS,
                                   [GEN_FAILED] = EXIT_BROKEN};
    schemas_hush(schemas);
    enum gen_status made = gen_run(order, schemas->clean, schemas->clean_count);
    return cli_worse(statuses[made], schemas_report(cli, schemas));
}

/* C of one schema is C all the same when another one is wrong, unless it would undo it; a plug-in
 * sees all or none. */
static int files_generate(struct cli *cli, const struct gen_order *order,
                          const struct clashes *clashes)
{
    struct schemas schemas;
    int status;
    if (order->plugin == NULL && clashes_report(cli, clashes, &status) > 0)
        return status;
    status = schemas_load(cli, order->plugin != NULL ? &clashes->beside : NULL, &schemas);
    bool is_whole = status == EXIT_CLEAN;
    if (schemas.clean_count > 0 && (is_whole || order->plugin == NULL))
        status = cli_worse(status, order_run(cli, order, &schemas));
    schemas_release(&schemas);
    return status;
}

static bool order_check(const struct cli *cli, const struct gen_order *order)
{
    if (order->out == NULL || (order->depfile != NULL && cli->files.count != 1))
        cli_misused(cli, "gen needs --out DIR, and one file when there is a --depfile");
    else if (order->depfile != NULL && order->is_check)
        cli_misused(cli, "--check writes nothing, so it takes no --depfile");
    else
        return cli_macro_is_good(cli, order->export_macro);
    return false;
}

/* "name=value"; false after a message. */
static bool option_read(struct cli *cli, struct map *names, const char *word, struct ir_option *ret)
{
    size_t len = strcspn(word, "=");
    ret->name = arena_copy(&cli->arena, word, len);
    ret->value = word + len + 1;
    if (word[len] == '\0' || len == 0)
        cli_misused(cli, "--option is NAME=VALUE, not '%s'", word);
    else if (map_add(names, ret->name, ret) != NULL)
        cli_misused(cli, "the option '%s' is given twice", ret->name);
    else
        return true;
    return false;
}

static bool options_read(struct cli *cli, const struct texts *words, struct gen_order *order)
{
    struct map names;
    map_init(&names, &cli->arena);
    if (order->plugin == NULL && words->count > 0)
        return cli_misused(cli, "--option is for a --plugin"), false;
    for (size_t i = words->count; i-- > 0;) {
        struct ir_option *option = arena_alloc(&cli->arena, sizeof(*option));
        if (!option_read(cli, &names, words->items[i], option))
            return false;
        option->next = order->options;
        order->options = option;
    }
    return true;
}

static bool timeout_read(const struct cli *cli, const char *word, struct gen_order *order)
{
    char *end;
    if (word == NULL)
        return true;
    unsigned long seconds = strtoul(word, &end, 10);
    order->seconds = (unsigned)seconds;
    if (*word >= '0' && *word <= '9' && *end == '\0' && seconds >= 1 &&
        seconds <= LIMIT_TIMEOUT_MAX)
        return true;
    return cli_misused(cli, "--timeout is 1 to %u seconds, not '%s'", LIMIT_TIMEOUT_MAX, word),
           false;
}

static int run(const struct verb *verb, int argc, char **argv)
{
    struct cli cli;
    int status;
    struct gen_order order = {0};
    struct texts words = {0};
    struct clashes clashes = {.is_one_folder = true};
    const char *timeout = NULL;
    const struct cli_option options[] = {
        {"--out", CLI_TEXT, &order.out},
        {"--check", CLI_FLAG, &order.is_check},
        {"--depfile", CLI_TEXT, &order.depfile},
        {"--export-macro", CLI_TEXT, &order.export_macro},
        {"--plugin", CLI_TEXT, &order.plugin},
        {"--option", CLI_LIST, &words},
        {"--timeout", CLI_TEXT, &timeout},
        {"--beside", CLI_LIST, &clashes.beside},
        {0},
    };
    if (cli_open(&cli, verb, options, argc, argv, &status)) {
        bool is_good = order_check(&cli, &order) && options_read(&cli, &words, &order) &&
                       timeout_read(&cli, timeout, &order);
        status = is_good ? files_generate(&cli, &order, &clashes) : EXIT_USAGE;
    }
    texts_release(&words);
    texts_release(&clashes.beside);
    return cli_close(&cli, status);
}

const struct verb verb_gen = {
    .name = "gen",
    .summary = "generate C from schemas",
    .help =
        "usage: culexc gen [-I DIR]... --out DIR [--check | --depfile FILE]\n"
        "                  [--beside FILE]... [--export-macro NAME] [--plugin NAME|PATH]\n"
        "                  [--option NAME=VALUE]... [--timeout SECONDS] [FILE...]\n"
        "Writes NAME_job.h and NAME_job.c for each NAME.job, only if they change.\n"
        "  --check              write nothing; name the files that would change, exit status 1\n"
        "  --beside FILE        a schema of the same program that another call generates: nothing\n"
        "                       is written when the two need one name; a plug-in sees it\n"
        "  --plugin NAME|PATH   instead of C, what this program makes of the schemas;\n"
        "                       cpp, json-schema and python come with culexc\n"
        "  --option NAME=VALUE  for the plug-in\n"
        "  --timeout SECONDS    that it may take (120)\n"
        "Environment: CULEX_PYTHON, the Python to use; CULEX_DATADIR, the renderer's folder.\n",
    .shares = CLI_SCHEMAS,
    .run = run,
};
