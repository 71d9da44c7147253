/* diag_print.h - the formats in which diagnostics leave the compiler. */
#ifndef CULEXC_DIAG_PRINT_H
#define CULEXC_DIAG_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "buf.h"
#include "diag.h"
#include "map.h"
#include "texts.h"

/* For people: `file:line:col: error: text [id]`, the line, a caret under the span. */
void diag_print_human(const struct diag_sink *sink, FILE *out, bool is_coloured);

/* The first of these lines and no more. */
void diag_print_short(const struct diag_sink *sink, FILE *out);

/* For programs: one JSON object a line. */
void diag_print_json(const struct diag_sink *sink, FILE *out);

/* For GitHub's runner, which shows them beside the code. */
void diag_print_github(const struct diag_sink *sink, FILE *out);

/* SARIF 2.1.0 is one document, so it is collected before it is printed. A zeroed struct is an
 * empty one; it is released by printing it. */
struct sarif {
    struct buf results;
    unsigned rules[DIAG_COUNT]; /* 1 and up in order of first use, 0: not used */
    unsigned rule_count;
};
void sarif_add(struct sarif *sarif, const struct diag_sink *sink);
void sarif_print(struct sarif *sarif, FILE *out, bool is_complete);

/* JUnit's XML is collected too. */
struct junit {
    struct arena arena;
    struct map seen; /* path -> anything: files with a suite */
    struct buf suites;
    unsigned tests, failures, errors;
};
void junit_init(struct junit *junit);

/* A test that failed for each error; a warning fails if `is_strict`, and else passes with a text.
 */
void junit_add(struct junit *junit, const struct diag_sink *sink, bool is_strict);

/* The file cannot be read, so nothing was tried. */
void junit_add_fault(struct junit *junit, const char *path, const char *fault);

/* A test that passed for each of `files` without a diagnostic; `name` is that of the verb. Releases
 * the collection. */
void junit_print(struct junit *junit, FILE *out, const char *name, const struct texts *files,
                 bool is_complete);

#endif
