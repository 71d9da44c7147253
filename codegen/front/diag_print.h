/* diag_print.h - the formats in which diagnostics leave the compiler. */
#ifndef CULEXC_DIAG_PRINT_H
#define CULEXC_DIAG_PRINT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "diag.h"

/* A line on standard error about what has no place in a schema: "culexc: ...". Names of files and
 * words of the command line reach a terminal as safely as the text of a schema does. */
void diag_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void diag_vsay(const char *format, va_list args);

/* For people: `file:line:col: error: text [id]`, the line, a caret under the span. */
void diag_print_human(const struct diag_sink *sink, FILE *out, bool is_coloured);

/* For programs: one JSON object a line. */
void diag_print_json(const struct diag_sink *sink, FILE *out);

#endif
