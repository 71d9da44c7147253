/* diag_print.h - the formats in which diagnostics leave the compiler. */
#ifndef CULEXC_DIAG_PRINT_H
#define CULEXC_DIAG_PRINT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "buf.h"
#include "diag.h"

/* A line on standard error about what has no place in a schema: "culexc: ...". Names of files and
 * words of the command line reach a terminal as safely as the text of a schema does. */
void diag_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void diag_vsay(const char *format, va_list args);

/* A line that holds words of a schema, as safely; `text` has no line end. */
void diag_print_line(FILE *out, const char *text, size_t len);

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

#endif
