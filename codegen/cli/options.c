#include "options.h"

#include <assert.h>
#include <string.h>

/* The value of the option `name` at argv[*at], as "--name value", "--name=value" or "-Ivalue";
 * NULL when it is another option, "" when the value is missing. */
static const char *option_value(char **argv, int *at, const char *name)
{
    size_t len = strlen(name);
    const char *word = argv[*at];
    if (strncmp(word, name, len) != 0)
        return NULL;
    if (word[len] == '=' && len > 2)
        return word + len + 1;
    if (word[len] != '\0')
        return len == 2 ? word + len : NULL;
    return argv[*at + 1] == NULL ? "" : argv[++*at];
}

/* True when the option was this one and well formed. */
static bool option_take(const struct cli_option *option, char **argv, int *at)
{
    assert(option->target != NULL && option->name[0] == '-');
    if (option->kind == CLI_FLAG) {
        if (strcmp(argv[*at], option->name) != 0)
            return false;
        *(bool *)option->target = true;
        return true;
    }
    const char *value = option_value(argv, at, option->name);
    if (value == NULL || *value == '\0')
        return false;
    if (option->kind == CLI_LIST)
        texts_add(option->target, value);
    else
        *(const char **)option->target = value;
    return true;
}

static bool options_take(const struct cli_option *options, char **argv, int *at)
{
    for (const struct cli_option *option = options; option->name != NULL; option++) {
        int next = *at;
        if (option_take(option, argv, &next)) {
            *at = next;
            return true;
        }
    }
    return false;
}

const char cli_shared_help[] =
    "\nA FILE that is a folder stands for the .job files in it and in the folders inside it, "
    "except\n"
    "hidden ones; links are not followed. Without a FILE it is the project: the folders that\n"
    "culex.yaml names, which is looked for in the current folder and above.\n"
    "\nOptions about schemas and diagnostics:\n"
    "  -I DIR                  also look for imports in DIR, before the project's\n"
    "  -WID, -Wno-ID           give this warning, or do not ('culexc explain --list')\n"
    "  -Werror, -Werror=ID     make all warnings errors, or this one; -Wno-error=ID: not this one\n"
    "  --max-errors N          stop after N errors (20)\n"
    "  --message-format=WORD   human, short: for people, on standard error;\n"
    "                          json, sarif, github, junit: for programs, on standard output,\n"
    "                          or standard error when the verb prints something else there\n"
    "  --color=WORD            auto, always, never; auto: on a terminal, unless NO_COLOR is set\n"
    "Exit status: 0 clean (maybe warnings), 1 errors, 2 usage, 3 input or output failed.\n";

static const struct cli_option *option_find(const struct cli_option *options, const char *name)
{
    while (options->name != NULL && strcmp(options->name, name) != 0)
        options++;
    return options->name == NULL ? NULL : options;
}

/* What other tools call ours. */
static const char *foreign_option(const char *name)
{
    static const struct {
        const char *name, *ours;
    } table[] = {{"-o", "--out"},
                 {"--output", "--out"},
                 {"--out-dir", "--out"},
                 {"--output-dir", "--out"},
                 {"--include", "-I"},
                 {"--proto_path", "-I"},
                 {"--check-only", "--check"},
                 {"--write", "-w"},
                 {"--format", "--message-format"},
                 {"--deps", "--depfile"},
                 {"-MF", "--depfile"}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(name, table[i].name) == 0)
            return table[i].ours;
    }
    return name;
}

static void options_offer(struct suggestion *near, const struct cli_option *options)
{
    for (; options->name != NULL; options++) {
        if (strlen(options->name) > 2 || strcmp(options->name, near->word) == 0)
            suggestion_offer(near, options->name);
    }
}

static bool refuse_option(struct cli *cli, const struct cli_option *options,
                          const struct cli_option *shared, const char *word)
{
    char *name = arena_printf(&cli->arena, "%.*s", (int)strcspn(word, "="), word);
    const struct cli_option *known = option_find(options, name);
    struct suggestion near = suggestion_start(foreign_option(name));
    options_offer(&near, options);
    options_offer(&near, shared);
    suggestion_offer(&near, "--help");
    if (known == NULL)
        known = option_find(shared, name);
    if (known != NULL)
        cli_misused(cli, "the option '%s' %s", name,
                    known->kind == CLI_FLAG ? "takes no value" : "needs a value");
    else if (near.best != NULL)
        cli_misused(cli, "no such option: '%s'; did you mean '%s'?", word, near.best);
    else
        cli_misused(cli, "no such option: '%s'", word);
    return false;
}

/* The word at *at, which is no file; false after a message. */
static bool option_read(struct cli *cli, const struct cli_option *options,
                        const struct cli_option *shared, char **argv, int *at)
{
    static const struct cli_option none[] = {{0}};
    bool has_shared = (cli->verb->shares & CLI_SCHEMAS) != 0;
    options = options == NULL ? none : options;
    shared = has_shared ? shared : none;
    if (options_take(options, argv, at) || options_take(shared, argv, at))
        return true;
    if (has_shared && strncmp(argv[*at], "-W", 2) == 0)
        return cli_policy_read(cli, argv[*at] + 2);
    return refuse_option(cli, options, shared, argv[*at]);
}

bool cli_words_read(struct cli *cli, const struct cli_option *options, int argc, char **argv)
{
    const char *format = "human", *colour = "auto", *max_errors = NULL;
    const struct cli_option shared[] = {
        {"-I", CLI_LIST, &cli->include_dirs},
        {"--message-format", CLI_TEXT, &format},
        {"--color", CLI_TEXT, &colour},
        {"--max-errors", CLI_TEXT, &max_errors},
        {0},
    };
    bool is_over = false;
    for (int at = 2; at < argc; at++) {
        if (!is_over && strcmp(argv[at], "--") == 0)
            is_over = true;
        else if (is_over || argv[at][0] != '-' || argv[at][1] == '\0')
            texts_add(&cli->files, argv[at]);
        else if (!option_read(cli, options, shared, argv, &at))
            return false;
    }
    if (!cli_format_read(cli, format) || !cli_colour_read(cli, colour) ||
        (max_errors != NULL && !cli_max_errors_read(cli, max_errors)))
        return false;
    return true;
}

bool cli_is_help_asked(int argc, char **argv)
{
    for (int at = 2; at < argc && strcmp(argv[at], "--") != 0; at++) {
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0)
            return true;
    }
    return false;
}
