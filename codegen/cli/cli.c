#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diag_print.h"
#include "lint.h"

/* A text that may be given again lands behind its list's other items. Every list has room for
 * all words of the command line, so nothing moves. */
static void list_add(struct cli *cli, struct cli_list *list, const char *item)
{
    if (list->items == NULL)
        list->items = memory_resize(NULL, cli->word_count * sizeof(*list->items));
    list->items[list->count++] = item;
}

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
static bool option_take(struct cli *cli, const struct cli_option *option, char **argv, int *at)
{
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
        list_add(cli, option->target, value);
    else
        *(const char **)option->target = value;
    return true;
}

static bool options_take(struct cli *cli, const struct cli_option *options, char **argv, int *at)
{
    for (const struct cli_option *option = options; option != NULL && option->name != NULL;
         option++) {
        int next = *at;
        if (option_take(cli, option, argv, &next)) {
            *at = next;
            return true;
        }
    }
    return false;
}

static bool format_read(struct cli *cli, const char *word)
{
    cli->format = strcmp(word, "json") == 0 ? FORMAT_JSON : FORMAT_HUMAN;
    return cli->format == FORMAT_JSON || strcmp(word, "human") == 0;
}

static bool words_read(struct cli *cli, const struct cli_option *options, int argc, char **argv)
{
    const char *format = "human";
    const struct cli_option shared[] = {
        {"-I", CLI_LIST, &cli->include_dirs},
        {"--message-format", CLI_TEXT, &format},
        {0},
    };
    bool is_over = false;
    for (int at = 2; at < argc; at++) {
        if (!is_over && strcmp(argv[at], "--") == 0)
            is_over = true;
        else if (is_over || argv[at][0] != '-' || argv[at][1] == '\0')
            list_add(cli, &cli->files, argv[at]);
        else if (!options_take(cli, options, argv, &at) &&
                 !((cli->verb->shares & CLI_SCHEMAS) && options_take(cli, shared, argv, &at)))
            return cli_misused(cli, "bad option or missing value: '%s'", argv[at]), false;
    }
    if (!format_read(cli, format))
        return cli_misused(cli, "no such message format: '%s'", format), false;
    if ((cli->verb->shares & CLI_SCHEMAS) && cli->files.count == 0)
        return cli_misused(cli, "no schema file given"), false;
    return true;
}

bool cli_open(struct cli *cli, const struct verb *verb, const struct cli_option *options, int argc,
              char **argv, int *ret_status)
{
    *cli = (struct cli){.verb = verb, .word_count = (size_t)argc};
    *ret_status = EXIT_CLEAN;
    if (argc > 2 && strcmp(argv[2], "--help") == 0) {
        fputs(verb->help, stdout);
        return false;
    }
    if (words_read(cli, options, argc, argv))
        return true;
    *ret_status = EXIT_USAGE;
    return false;
}

int cli_misused(const struct cli *cli, const char *format, ...)
{
    va_list args;
    fputs("culexc: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n%s", cli->verb->help);
    return EXIT_USAGE;
}

struct module *cli_load(const struct cli *cli, struct compilation *compilation, const char *path)
{
    const char *fault;
    compilation->include_dirs = cli->include_dirs.items;
    compilation->include_count = cli->include_dirs.count;
    struct module *module = compilation_load(compilation, path, &fault);
    if (module == NULL)
        fprintf(stderr, "culexc: cannot read '%s': %s\n", path, fault);
    else
        check_module(compilation, module);
    return module;
}

int cli_report(const struct cli *cli, struct compilation *compilation)
{
    bool is_coloured = isatty(STDERR_FILENO) && getenv("NO_COLOR") == NULL;
    diag_sort(&compilation->sink);
    if (cli->format == FORMAT_JSON)
        diag_print_json(&compilation->sink, stderr);
    else
        diag_print_human(&compilation->sink, stderr, is_coloured);
    return compilation->sink.errors > 0 ? EXIT_DIAGNOSTICS : EXIT_CLEAN;
}

void cli_print(const char *text, size_t len)
{
    bool is_terminal = isatty(STDOUT_FILENO) != 0;
    for (size_t at = 0; at < len;) {
        uint32_t code = 0;
        size_t length = utf8_sequence(text + at, len - at, &code);
        bool is_plain = length > 0 && (!utf8_is_deceptive(code) || code == '\t' || code == '\n');
        if (is_terminal && !is_plain)
            fputc('?', stdout);
        else
            fwrite(text + at, 1, length == 0 ? 1 : length, stdout);
        at += length == 0 ? 1 : length;
    }
}

bool cli_tiers(const struct cli *cli, const struct cli_list *names, unsigned *ret_tiers)
{
    *ret_tiers = 0;
    for (size_t i = 0; i < names->count; i++) {
        unsigned tiers = lint_tiers_named(names->items[i]);
        if (tiers == 0)
            return cli_misused(cli, "no such tier: '%s'", names->items[i]), false;
        *ret_tiers |= tiers;
    }
    return true;
}

bool cli_is_c_name(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return *text != '\0' && strchr("0123456789", *text) == NULL &&
           strspn(text, allowed) == strlen(text);
}

int cli_worse(int a, int b)
{
    return a > b ? a : b;
}

int cli_close(struct cli *cli, int status)
{
    free(cli->files.items);
    free(cli->include_dirs.items);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fputs("culexc: cannot write the output\n", stderr);
    return EXIT_BROKEN;
}
