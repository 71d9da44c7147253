/* diag_print.h - the formats in which diagnostics leave the compiler. */
#ifndef CULEXC_DIAG_PRINT_H
#define CULEXC_DIAG_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "diag.h"

/* For people: `file:line:col: error: text [id]`, the line, a caret under the span. */
void diag_print_human(const struct diag_sink *sink, FILE *out, bool is_coloured);

/* For programs: one JSON object a line. */
void diag_print_json(const struct diag_sink *sink, FILE *out);

#endif
