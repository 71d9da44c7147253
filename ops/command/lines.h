/* ops/command/lines.h - a file, line by line, within bounds. */
#ifndef OPS_COMMAND_LINES_H
#define OPS_COMMAND_LINES_H

#include <stdint.h>
#include <stdio.h>

#include "command/fail.h"
#include "command/scan.h"

enum { OPS_LINE_MAX = 8 * 1024 * 1024 };

struct ops_lines {
    FILE *in;
    char *text; /* owned: the line */
    size_t len, capacity;
    uint64_t number; /* of the line, from 1 */
    bool is_cut;     /* no line end was behind it */
};

/* The next line, borrowed until the one after it; at the end its text is NULL. CULEX_EUSAGE for one
 * that is longer than OPS_LINE_MAX, and for a file that cannot be read. */
culex_status ops_lines_next(struct ops_lines *lines, struct ops_slice *ret_line,
                            culex_error *error);
/* Frees the line, and leaves the file open. */
void ops_lines_end(struct ops_lines *lines);

#endif
