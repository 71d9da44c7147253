/* cli.c - the command line and its options, loading, reporting. */
#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cname.h"
#include "diag_print.h"
#include "limits.h"
#include "lint.h"
#include "say.h"

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

static const char shared_help[] =
    "\nA FILE that is a folder stands for the .job files in it and in the folders inside it, but\n"
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

/* Position of `word` in a list that NULL ends; its length when it is not there. */
static int word_find(const char *const *words, const char *word)
{
    int at = 0;
    while (words[at] != NULL && strcmp(words[at], word) != 0)
        at++;
    return at;
}

static bool format_read(struct cli *cli, const char *word)
{
    static const char *const words[] = {"human", "short", "json", "sarif", "github", "junit", NULL};
    int at = word_find(words, word);
    cli->format = (enum message_format)at;
    if (words[at] == NULL)
        cli_misused(cli, "no such message format: '%s'", word);
    return words[at] != NULL;
}

static bool colour_read(struct cli *cli, const char *word)
{
    static const char *const words[] = {"never", "always", "auto", NULL};
    const char *no_color = getenv("NO_COLOR");
    int at = word_find(words, word);
    cli->is_coloured = at == 1;
    if (at == 2)
        cli->is_coloured = isatty(STDERR_FILENO) && (no_color == NULL || *no_color == '\0');
    if (words[at] == NULL)
        cli_misused(cli, "--color is auto, always or never, not '%s'", word);
    return words[at] != NULL;
}

static bool max_errors_read(struct cli *cli, const char *word)
{
    char *end;
    unsigned long max = strtoul(word, &end, 10);
    cli->policy->errors_max = (unsigned)max;
    bool is_number = *word >= '0' && *word <= '9' && *end == '\0';
    if (is_number && max >= 1 && max <= LIMIT_ERRORS_MAX)
        return true;
    cli_misused(cli, "--max-errors is 1 to %u, not '%s'", LIMIT_ERRORS_MAX, word);
    return false;
}

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

static bool words_read(struct cli *cli, const struct cli_option *options, int argc, char **argv)
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
    if (!format_read(cli, format) || !colour_read(cli, colour) ||
        (max_errors != NULL && !max_errors_read(cli, max_errors)))
        return false;
    return true;
}

/* Wherever it stands before "--": who is in the middle of a command line may ask too. */
static bool is_help_asked(int argc, char **argv)
{
    for (int at = 2; at < argc && strcmp(argv[at], "--") != 0; at++) {
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0)
            return true;
    }
    return false;
}

bool cli_open(struct cli *cli, const struct verb *verb, const struct cli_option *options, int argc,
              char **argv, int *ret_status)
{
    *cli = (struct cli){.verb = verb};
    *ret_status = EXIT_CLEAN;
    if (is_help_asked(argc, argv)) {
        fputs(verb->help, stdout);
        fputs((verb->shares & CLI_SCHEMAS) != 0 ? shared_help : "", stdout);
        return false;
    }
    cli->policy = arena_alloc(&cli->arena, sizeof(*cli->policy));
    cli->said = arena_alloc(&cli->arena, sizeof(*cli->said));
    map_init(cli->said, &cli->arena);
    if (!words_read(cli, options, argc, argv)) {
        *ret_status = EXIT_USAGE;
        return false;
    }
    if (cli->format == FORMAT_SARIF)
        cli->sarif = arena_alloc(&cli->arena, sizeof(*cli->sarif));
    if (cli->format == FORMAT_JUNIT)
        junit_init(cli->junit = arena_alloc(&cli->arena, sizeof(*cli->junit)));
    return !(verb->shares & CLI_SCHEMAS) || cli_files_open(cli);
}

int cli_misused(const struct cli *cli, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsay(format, args);
    va_end(args);
    fputs(cli->verb->help, stderr);
    return EXIT_USAGE;
}

struct module *cli_load_silently(const struct cli *cli, struct compilation *compilation,
                                 const char *path, const char **ret_fault)
{
    compilation->include_dirs = cli->include_dirs.items;
    compilation->include_count = cli->include_dirs.count;
    compilation->project = cli->project.path;
    compilation->sink.policy = cli->policy;
    struct module *module = compilation_load(compilation, path, ret_fault);
    if (module != NULL)
        check_module(compilation, module);
    return module;
}

struct module *cli_load(const struct cli *cli, struct compilation *compilation, const char *path)
{
    const char *fault;
    struct module *module = cli_load_silently(cli, compilation, path, &fault);
    if (module == NULL)
        say("cannot read '%s': %s", path, fault);
    if (module == NULL && cli->junit != NULL)
        junit_add_fault(cli->junit, path, fault);
    return module;
}

int cli_load_all(const struct cli *cli, struct compilation *compilation)
{
    int status = cli->status; /* What is missing must not look as if it had been removed. */
    for (size_t i = 0; i < cli->files.count; i++) {
        if (cli_load(cli, compilation, cli->files.items[i]) == NULL)
            status = EXIT_BROKEN;
    }
    return status;
}

static FILE *report_stream(const struct cli *cli)
{
    bool is_for_people = cli->format == FORMAT_HUMAN || cli->format == FORMAT_SHORT;
    bool is_result = (cli->verb->shares & CLI_REPORTS) != 0 && !cli->is_output_taken;
    return is_for_people || !is_result ? stderr : stdout;
}

static void print_left_out(const struct diag_sink *sink)
{
    if (sink->is_full)
        say("more than %u errors; the rest is not shown", sink->errors);
    if (sink->has_more_warnings)
        say("more than %u warnings; the rest is not shown", sink->warnings);
}

static bool is_said(const struct cli *cli, const struct diag *diag)
{
    struct arena *arena = cli->said->arena;
    const struct source *source = diag->span.source;
    const char *path = path_resolve(arena, source->path);
    const char *key =
        arena_printf(arena, "%s:%u:%u:%s:%s", path == NULL ? source->path : path, diag->span.offset,
                     diag->span.length, diag_slug(diag->id), diag->text);
    return map_add(cli->said, key, cli->said) != NULL;
}

/* Each file that is named is compiled with its imports, and what is wrong in them is the same
 * every time. */
static void drop_said(const struct cli *cli, struct diag_sink *sink)
{
    struct diag **at = &sink->first;
    while (*at != NULL) {
        if (!is_said(cli, *at)) {
            at = &(*at)->next;
            continue;
        }
        *((*at)->severity == DIAG_ERROR ? &sink->errors : &sink->warnings) -= 1;
        *at = (*at)->next;
    }
}

int cli_report(const struct cli *cli, struct compilation *compilation)
{
    return cli_report_sink(cli, &compilation->sink);
}

int cli_report_sink(const struct cli *cli, struct diag_sink *sink)
{
    bool is_strict = (cli->verb->shares & CLI_STRICT) != 0;
    FILE *out = report_stream(cli);
    const struct diag_sink whole = *sink;
    diag_sort(sink);
    drop_said(cli, sink);
    switch (cli->format) {
    case FORMAT_HUMAN:
        diag_print_human(sink, out, cli->is_coloured);
        break;
    case FORMAT_SHORT:
        diag_print_short(sink, out);
        break;
    case FORMAT_JSON:
        diag_print_json(sink, out);
        break;
    case FORMAT_GITHUB:
        diag_print_github(sink, out);
        break;
    case FORMAT_SARIF:
        sarif_add(cli->sarif, sink);
        break;
    case FORMAT_JUNIT:
        junit_add(cli->junit, sink, is_strict);
        break;
    }
    print_left_out(&whole);
    bool has_failed = whole.errors > 0 || (is_strict && whole.first != NULL);
    return has_failed ? EXIT_DIAGNOSTICS : EXIT_CLEAN;
}

void cli_print(const char *text, size_t len)
{
    bool is_terminal = isatty(STDOUT_FILENO) != 0;
    for (size_t at = 0; at < len;) {
        size_t length = culex__utf8_char(text + at, len - at);
        uint32_t code = culex__utf8_code(text + at, length);
        bool is_plain =
            length > 0 && (!culex__utf8_is_deceptive(code) || code == '\t' || code == '\n');
        if (is_terminal && !is_plain)
            fputc('?', stdout);
        else
            fwrite(text + at, 1, length == 0 ? 1 : length, stdout);
        at += length == 0 ? 1 : length;
    }
}

bool cli_tiers(const struct cli *cli, const struct texts *names, unsigned *ret_tiers)
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

static bool is_c_name(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return *text != '\0' && strchr("0123456789", *text) == NULL &&
           strspn(text, allowed) == strlen(text);
}

bool cli_macro_is_good(const struct cli *cli, const char *text)
{
    if (text == NULL)
        return true;
    const char *owner = is_c_name(text) ? cname_macro_owner(text) : "no name in C";
    if (owner != NULL)
        cli_misused(cli, "--export-macro: '%s' is %s", text, owner);
    return owner == NULL;
}

int cli_worse(int a, int b)
{
    return a > b ? a : b;
}

int cli_close(struct cli *cli, int status)
{
    status = cli_worse(status, cli->status);
    if (cli->sarif != NULL && status != EXIT_USAGE)
        sarif_print(cli->sarif, report_stream(cli), status != EXIT_BROKEN);
    if (cli->junit != NULL && status != EXIT_USAGE)
        junit_print(cli->junit, report_stream(cli), cli->verb->name, &cli->files,
                    status != EXIT_BROKEN);
    arena_release(&cli->arena);
    texts_release(&cli->files);
    texts_release(&cli->folders);
    texts_release(&cli->include_dirs);
    project_release(&cli->project);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fputs("culexc: cannot write the output\n", stderr);
    return EXIT_BROKEN;
}
