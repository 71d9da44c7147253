/* store/sqlite/scan.h - what a claim looks at: the ready order from its front, and what needs
 * something that the worker offers. A row that is met becomes a pick. */
#ifndef CULEX_STORE_SQLITE_SCAN_H
#define CULEX_STORE_SQLITE_SCAN_H

#include "core/needs.h"
#include "store/sqlite/block.h"
#include "store/sqlite/kind.h"
#include "store/sqlite/run.h"

struct culex_sqlite;
struct culex_sqlite_queue;

enum culex_sqlite_verdict {
    CULEX__VERDICT_GRANT,
    CULEX__VERDICT_EXPIRED,
    CULEX__VERDICT_TOO_LONG,
    CULEX__VERDICT_DAMAGED,
    CULEX__VERDICT_PARKED,
    CULEX__VERDICT_UNREADABLE
};

/* A row that the scan picked; it is changed when the scan is over, since a row must not be
 * updated under the cursor that walks its index. */
struct culex_sqlite_pick {
    struct culex_sqlite_run run;
    enum culex_sqlite_verdict verdict;
    bool starts;    /* at once */
    bool is_body;   /* of which nothing but run.seq is known */
    int64_t behind; /* number of the key behind which it is parked */
};

struct culex_sqlite_scan {
    struct culex_sqlite *store;
    struct culex_sqlite_queue *queue;
    const struct culex_step *step;
    struct culex_step_reply *reply;
    struct culex_sqlite_pick *picks;
    size_t pick_count, pick_max;
    struct culex_sqlite_kind kind;     /* of the ordinary run that was read last */
    struct culex_sqlite_block *blocks; /* of the ordinary runs that are granted */
    size_t block_count;
    size_t granted;
    size_t parked;             /* runs of which a limit has no room */
    size_t passed;             /* suspects left where they are: the worker has other runs at work */
    uint64_t bytes;            /* of payload, beyond the first run */
    struct culex_needs offers; /* what the worker has free by now */
    bool is_of_needs;          /* what needs something is looked at */
    bool is_needs_cut;         /* there may be more that fits */
    int64_t yielded[CULEX_PARK_MAX]; /* seq of passed suspects that let somebody go first */
    size_t yielded_count;
    bool is_called; /* somebody goes before the run that was met last, and comes in first */
    bool is_over;   /* a suspect, a run in doubt, the byte budget or the bound ended it */
};

/* Does it go on? */
bool culex__sqlite_scan_wants(const struct culex_sqlite_scan *scan);
/* Meets the run of a whole row. */
culex_status culex__sqlite_scan_row(struct culex_sqlite_scan *scan, sqlite3_stmt *statement,
                                    culex_error *error);
/* Meets the ready ones, from the highest priority that has runs downwards. */
culex_status culex__sqlite_scan_all(struct culex_sqlite_scan *scan, culex_error *error);
/* Before all others: meets what fits into what the worker has free. */
culex_status culex__sqlite_scan_needs(struct culex_sqlite_scan *scan, culex_error *error);

#endif
