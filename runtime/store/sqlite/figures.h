/* store/sqlite/figures.h - what workers count of runs, as FSCK sees it. */
#ifndef CULEX_STORE_SQLITE_FIGURES_H
#define CULEX_STORE_SQLITE_FIGURES_H

#include "store/store.h"

struct culex_sqlite;
struct culex_sqlite_queue;

/* Adds to *wrong how many rows of the queue cannot be read, and drops them when told so. */
culex_status culex__sqlite_figures_check(struct culex_sqlite *store,
                                         const struct culex_sqlite_queue *queue, bool is_repairing,
                                         uint64_t *wrong, culex_error *error);

#endif
