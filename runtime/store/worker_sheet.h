/* store/worker_sheet.h - what a worker tells of itself, as stores keep it: lines of text, each a
 * letter for what it says, a blank and the value. Readers skip lines that they do not know. */
#ifndef CULEX_STORE_WORKER_SHEET_H
#define CULEX_STORE_WORKER_SHEET_H

#include "store/store.h"

enum { CULEX_SHEET_LIST_MAX = 64 /* queues, and runs, that are listed */ };

/* Writes what is told by the worker itself; its id and what the store knows are left out. Times are
 * relative to the call that tells it, so negative. What does not fit of the lists is left out.
 * Returns the length. */
size_t culex__sheet_write(const culex_worker_info *info, char ret_sheet[CULEX_STORE_SHEET_MAX]);

/* A row of the registry, for people: the texts and lists of `info` stand behind it. */
struct culex_sheet {
    culex_worker_info info;
    char text[CULEX_STORE_SHEET_MAX + 1];
    culex_queue_served queues[CULEX_SHEET_LIST_MAX];
    culex_run_at_work runs[CULEX_SHEET_LIST_MAX];
};

/* The row's id is borrowed. What cannot be read is left out. */
void culex__sheet_read(const struct culex_worker_row *row, struct culex_sheet *ret_sheet);

#endif
