/* store/sqlite/log_rows.h - log lines that runs keep, of which rows of table run_log have those of
 * one run, in chunks: a new line is written with the last one alone.
 *
 * queue->logs is 1 since a run of the queue kept some: others ask the file for nothing. */
#ifndef CULEX_STORE_SQLITE_LOG_ROWS_H
#define CULEX_STORE_SQLITE_LOG_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include <culex/error.h>

#include "core/run_log.h"

struct culex_sqlite;
struct culex_sqlite_queue;

/* Puts them behind those of the run, which is a row of table run; does nothing when there are none,
 * or no room for them (store->leaves_lines). */
culex_status culex__sqlite_log_add(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                   int64_t seq, const struct culex_log_lines *log,
                                   culex_error *error);

/* The run is gone. */
culex_status culex__sqlite_log_drop(struct culex_sqlite *store,
                                    const struct culex_sqlite_queue *queue, int64_t seq,
                                    culex_error *error);

/* FSCK: lines of runs that are not there, which go, and what the queue's row says of them. */
culex_status culex__sqlite_logs_check(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                      bool is_repairing, uint64_t *wrong, culex_error *error);

#endif
