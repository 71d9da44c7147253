/* cli.h - what the verbs of culexc share: the command line, loading, reporting, exit statuses.
 *
 * A verb is one file, verb_NAME.c: it declares its options, reads the command line with
 * cli_open(), works on cli.files, and returns through cli_close(). */
#ifndef CULEXC_CLI_H
#define CULEXC_CLI_H

#include "check.h"
#include "project.h"

enum { EXIT_CLEAN = 0, EXIT_DIAGNOSTICS = 1, EXIT_USAGE = 2, EXIT_BROKEN = 3 };

enum cli_kind {
    CLI_FLAG, /* bool */
    CLI_TEXT, /* const char *: "--name value" or "--name=value", not empty */
    CLI_LIST  /* struct texts: a text that may be given again */
};

/* One option of a verb; an array of them ends with a zeroed one. */
struct cli_option {
    const char *name; /* with its dashes; one dash and one letter: "-I DIR" and "-IDIR" */
    enum cli_kind kind;
    void *target; /* of the kind's type; what it holds before is the default */
};

enum message_format {
    FORMAT_HUMAN,
    FORMAT_SHORT,
    FORMAT_JSON,
    FORMAT_SARIF,
    FORMAT_GITHUB,
    FORMAT_JUNIT
};

/* What a verb shares with others. */
enum {
    CLI_SCHEMAS = 1, /* it takes -I and the options about diagnostics, and needs files or folders */
    CLI_REPORTS = 2, /* diagnostics are its result: formats for programs go to standard output */
    CLI_STRICT = 4   /* exit status 1 for warnings too */
};

struct cli {
    const struct verb *verb;
    struct texts files; /* what is no option, in order, schemas instead of their folder; "-" too */
    struct texts folders;      /* of a verb about schemas: those that were named */
    struct texts include_dirs; /* of the command line, then of the project */
    struct project project;    /* to which the files belong */
    bool is_project;           /* no file or folder was named: all of the project is meant */
    enum message_format format;
    bool is_coloured;
    bool is_output_taken;       /* standard output is for something else than reports */
    struct diag_policy *policy; /* of every compilation that cli_load makes */
    struct sarif *sarif;        /* what cli_report collected */
    struct junit *junit;        /* the same */
    struct map *said;           /* what cli_report printed, of any compilation */
    struct arena arena;
    int status; /* of finding the files; EXIT_BROKEN: not all of them were found */
};

struct verb {
    const char *name;
    const char *summary; /* for the general help */
    const char *help;    /* "usage: ..." and more, ends in a line end */
    unsigned shares;     /* CLI_SCHEMAS ... */
    int (*run)(const struct verb *verb, int argc, char **argv);
};

/* ---- cli.c: a call from its command line to its exit status ---- */

/* Reads argv[2] and on. False after a message on standard error when something is wrong with it,
 * or after the help on standard output when that was asked for; *ret_status is then what to
 * exit with, if cli_close() knows nothing worse. That is due in any case. */
bool cli_open(struct cli *cli, const struct verb *verb, const struct cli_option *options, int argc,
              char **argv, int *ret_status);

/* Text of a schema on standard output: as it is, but on a terminal whatever could move the cursor
 * or reorder a line is shown as '?'. */
void cli_print(const char *text, size_t len);

/* The worse of two exit statuses. */
int cli_worse(int a, int b);

/* Writes out what was printed on standard output (a full disk is a failure), releases all;
 * returns `status`, or what is worse. */
int cli_close(struct cli *cli, int status);

/* ---- usage.c ---- */

/* "culexc: message" on standard error, and the usage of the verb: EXIT_USAGE. */
int cli_misused(const struct cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- files.c ---- */

/* Reads the project, and puts the schemas of folders in their places. False when there is nothing
 * to work on; cli->status says why, or that some are missing. */
bool cli_files_open(struct cli *cli);

/* ---- load.c ---- */

/* Loads and checks one schema. NULL after a message when the file cannot be read; what else is
 * wrong stands in compilation->sink. `compilation` was initialised. */
struct module *cli_load(const struct cli *cli, struct compilation *compilation, const char *path);

/* The same without a message; a sentence is in *ret_fault then. */
struct module *cli_load_silently(const struct cli *cli, struct compilation *compilation,
                                 const char *path, const char **ret_fault);

/* All files of the command line as one compilation: EXIT_CLEAN, or EXIT_BROKEN after a message
 * that some are missing. */
int cli_load_all(const struct cli *cli, struct compilation *compilation);

/* ---- report.c ---- */

/* Prints the diagnostics in the format asked for (SARIF waits for cli_close): EXIT_CLEAN or
 * EXIT_DIAGNOSTICS. What was said of an import by way of another file is taken out of the sink. */
int cli_report(const struct cli *cli, struct compilation *compilation);
int cli_report_sink(const struct cli *cli, struct diag_sink *sink);

/* ---- values.c ---- */

/* The lint rules of the named tiers, as bits; false after a message when one has no such name. */
bool cli_tiers(const struct cli *cli, const struct texts *names, unsigned *ret_tiers);

/* Whether `text`, of --export-macro, can be a macro of the generated code; false after a message.
 * NULL is good: there is none. */
bool cli_macro_is_good(const struct cli *cli, const char *text);

/* ---- verb_NAME.c, as main.c lists them ---- */

extern const struct verb verb_breaking, verb_check, verb_doc, verb_explain, verb_fmt, verb_gen,
    verb_init, verb_ir, verb_lint, verb_lock, verb_lsp;

#endif
