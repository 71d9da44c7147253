/* ops/command/record.h - the lines of an export: written, and read again.
 *
 * docs/operating.md has their shape. The first member of each, "line", tells which it is. */
#ifndef OPS_COMMAND_RECORD_H
#define OPS_COMMAND_RECORD_H

#include <stdio.h>

#include <culex/transfer.h>

#include "command/fail.h"
#include "command/scan.h"
#include "command/value.h"

enum { OPS_EXPORT_VERSION = 1, OPS_LIMITS_MAX = 9 };

/* A run as its store has it. */
struct ops_record {
    culex_run_info run; /* its texts belong to somebody else */
    culex_transfer_limit limits[OPS_LIMITS_MAX];
    size_t limit_count;
};

enum ops_line_kind {
    OPS_LINE_EXPORT, /* what the file is */
    OPS_LINE_QUEUE,  /* what its runs come from */
    OPS_LINE_LIMIT,  /* that somebody has set in it */
    OPS_LINE_RUN,
    OPS_LINE_END, /* so that a file that was cut off is known */
    OPS_LINE_KIND_COUNT
};

/* Any of them; what the others have is 0. */
struct ops_record_line {
    enum ops_line_kind kind;
    uint32_t version; /* EXPORT, as the next two */
    char *program, *store;
    int64_t exported_at_ms;
    bool is_paused; /* QUEUE, as the next two; record.run.queue is its name */
    int64_t capacity, dead_limit;
    culex_transfer_limit limit; /* LIMIT: name and value; record.run.queue is its queue */
    int64_t runs;               /* END: so many stand before it */
    struct ops_record record;   /* RUN */
};

void ops_record_print(FILE *out, const struct ops_record_line *line);

/* Reads one, in `arena`. CULEX_EUSAGE tells what is wrong. */
culex_status ops_record_read(struct ops_slice text, culex_arena *arena,
                             struct ops_record_line *ret_line, culex_error *error);

/* Cuts "NAME=KEY;NAME=KEY", which is changed and stays in use. False for more than OPS_LIMITS_MAX,
 * and for another text. */
bool ops_record_limits_cut(char *text, struct ops_record *record);

/* "concurrency", ...; never NULL. */
const char *ops_limit_kind_name(culex_limit_kind kind);

#endif
