/* main.c - the command line of culexc. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "diag_print.h"
#include "gen.h"
#include "ir_json.h"

enum { EXIT_CLEAN = 0, EXIT_DIAGNOSTICS = 1, EXIT_USAGE = 2, EXIT_BROKEN = 3 };

struct arguments {
    const char **include_dirs;
    size_t include_count;
    const char **files;
    size_t file_count;
    const char *out, *depfile, *export_macro;
    bool is_json;
};

struct verb {
    const char *name;
    int (*run)(const struct arguments *arguments);
    const char *help;
};

static const char general_help[] =
    "usage: culexc VERB [OPTION...] FILE...\n"
    "\n"
    "  check   say what is wrong with schemas\n"
    "  ir      print the checked model of a schema as JSON\n"
    "  gen     generate C from schemas\n"
    "\n"
    "culexc VERB --help tells more. Exit status: 0 clean, 1 diagnostics, 2 usage,\n"
    "3 input, output or internal failure.\n";

/* Prints what was found; the exit status that follows from it. */
static int finish(struct compilation *compilation, const struct arguments *arguments)
{
    bool is_coloured = isatty(STDERR_FILENO) && getenv("NO_COLOR") == NULL;
    diag_sort(&compilation->sink);
    if (arguments->is_json)
        diag_print_json(&compilation->sink, stderr);
    else
        diag_print_human(&compilation->sink, stderr, is_coloured);
    return compilation->sink.errors > 0 ? EXIT_DIAGNOSTICS : EXIT_CLEAN;
}

static struct module *load(struct compilation *compilation, const struct arguments *arguments,
                           const char *path)
{
    const char *fault;
    compilation->include_dirs = arguments->include_dirs;
    compilation->include_count = arguments->include_count;
    struct module *module = compilation_load(compilation, path, &fault);
    if (module == NULL)
        fprintf(stderr, "culexc: cannot read '%s': %s\n", path, fault);
    else
        check_module(compilation, module);
    return module;
}

/* Writes what was printed on standard output; a full disk is a failure. */
static int flush_output(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fputs("culexc: cannot write the output\n", stderr);
    return EXIT_BROKEN;
}

static int worse(int a, int b)
{
    return a > b ? a : b;
}

/* Each file is a compilation of its own, so that what one names does not matter to
 * another. */
static int verb_check(const struct arguments *arguments)
{
    int status = EXIT_CLEAN;
    for (size_t i = 0; i < arguments->file_count; i++) {
        struct compilation compilation;
        compilation_init(&compilation);
        if (load(&compilation, arguments, arguments->files[i]) == NULL)
            status = EXIT_BROKEN;
        else
            status = worse(status, finish(&compilation, arguments));
        compilation_release(&compilation);
    }
    return status;
}

static int verb_ir(const struct arguments *arguments)
{
    struct compilation compilation;
    struct buf json = {0};
    int status = EXIT_BROKEN;
    if (arguments->file_count != 1) {
        fputs("culexc: ir takes one file\n", stderr);
        return EXIT_USAGE;
    }
    compilation_init(&compilation);
    struct module *module = load(&compilation, arguments, arguments->files[0]);
    if (module != NULL)
        status = finish(&compilation, arguments);
    if (status == EXIT_CLEAN) {
        ir_json_write(module->ir, arguments->export_macro, &json);
        fwrite(json.data, 1, json.len, stdout);
    }
    buf_release(&json);
    compilation_release(&compilation);
    return flush_output(status);
}

static int gen_file(const struct arguments *arguments, const char *path)
{
    struct compilation compilation;
    int status = EXIT_BROKEN;
    compilation_init(&compilation);
    struct module *module = load(&compilation, arguments, path);
    if (module != NULL) {
        check_supported(&compilation, module);
        status = finish(&compilation, arguments);
    }
    if (status == EXIT_CLEAN && !gen_write(&compilation, module, arguments->out, arguments->depfile,
                                           arguments->export_macro))
        status = EXIT_BROKEN;
    compilation_release(&compilation);
    return status;
}

static int verb_gen(const struct arguments *arguments)
{
    int status = EXIT_CLEAN;
    if (arguments->out == NULL || (arguments->depfile != NULL && arguments->file_count != 1)) {
        fputs("culexc: gen needs --out DIR, and one file when there is a --depfile\n", stderr);
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < arguments->file_count; i++)
        status = worse(status, gen_file(arguments, arguments->files[i]));
    return status;
}

static const struct verb verbs[] = {
    {"check", verb_check,
     "usage: culexc check [-I DIR]... [--message-format=human|json] FILE...\n"
     "Says what is wrong with schemas, on standard error.\n"},
    {"ir", verb_ir,
     "usage: culexc ir [-I DIR]... [--export-macro NAME] FILE\n"
     "Prints the checked model, as schemas/ir.schema.json describes it.\n"},
    {"gen", verb_gen,
     "usage: culexc gen [-I DIR]... --out DIR [--depfile FILE] [--export-macro NAME] FILE...\n"
     "Writes NAME_job.h and NAME_job.c for each NAME.job, only if they change.\n"
     "Environment: CULEX_PYTHON, the Python to use; CULEX_DATADIR, the renderer's folder.\n"},
};
enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]) };

static bool is_c_name(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return *text != '\0' && strchr("0123456789", *text) == NULL &&
           strspn(text, allowed) == strlen(text);
}

/* The value of option `name` at argv[*at], as "--name value" or "--name=value"; NULL
 * when it is another option, "" when the value is missing. */
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

static bool option_read(struct arguments *arguments, char **argv, int *at)
{
    const char *value;
    if ((value = option_value(argv, at, "-I")) != NULL)
        arguments->include_dirs[arguments->include_count++] = value;
    else if ((value = option_value(argv, at, "--out")) != NULL)
        arguments->out = value;
    else if ((value = option_value(argv, at, "--depfile")) != NULL)
        arguments->depfile = value;
    else if ((value = option_value(argv, at, "--export-macro")) != NULL)
        arguments->export_macro = value;
    else if ((value = option_value(argv, at, "--message-format")) != NULL)
        arguments->is_json = strcmp(value, "json") == 0;
    else
        return false;
    if (arguments->export_macro != NULL && !is_c_name(arguments->export_macro))
        return false;
    return *value != '\0';
}

static bool arguments_read(struct arguments *arguments, int argc, char **argv)
{
    bool is_over = false;
    for (int at = 2; at < argc; at++) {
        if (!is_over && strcmp(argv[at], "--") == 0) {
            is_over = true;
        } else if (is_over || argv[at][0] != '-') {
            arguments->files[arguments->file_count++] = argv[at];
        } else if (!option_read(arguments, argv, &at)) {
            fprintf(stderr, "culexc: bad option or missing value: '%s'\n",
                    argv[at < argc ? at : argc - 1]);
            return false;
        }
    }
    if (arguments->file_count == 0)
        fputs("culexc: no schema file given\n", stderr);
    return arguments->file_count > 0;
}

static int verb_run(const struct verb *verb, int argc, char **argv)
{
    struct arguments arguments = {0};
    int status = EXIT_USAGE;
    if (argc > 2 && strcmp(argv[2], "--help") == 0) {
        fputs(verb->help, stdout);
        return flush_output(EXIT_CLEAN);
    }
    arguments.include_dirs = memory_resize(NULL, (size_t)argc * sizeof(char *));
    arguments.files = memory_resize(NULL, (size_t)argc * sizeof(char *));
    if (arguments_read(&arguments, argc, argv))
        status = verb->run(&arguments);
    else
        fputs(verb->help, stderr);
    free(arguments.include_dirs);
    free(arguments.files);
    return status;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        fputs(general_help, stdout);
        return flush_output(EXIT_CLEAN);
    }
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        puts("culexc " CULEXC_VERSION);
        return flush_output(EXIT_CLEAN);
    }
    for (size_t i = 0; argc > 1 && i < VERB_COUNT; i++) {
        if (strcmp(argv[1], verbs[i].name) == 0)
            return verb_run(&verbs[i], argc, argv);
    }
    fputs(general_help, stderr);
    return EXIT_USAGE;
}
