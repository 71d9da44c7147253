/* store/sqlite/admission.h - STEP's share of limits: who comes in again (sqlite/parking.h). */
#ifndef CULEX_STORE_SQLITE_ADMISSION_H
#define CULEX_STORE_SQLITE_ADMISSION_H

#include "store/sqlite/parking.h"

/* A STEP's share before its claims: buckets that a wrong clock has left, limits that give more,
 * runs whose time has come. */
culex_status culex__sqlite_admission_maintain(struct culex_sqlite *store,
                                              struct culex_sqlite_queue *queue, uint32_t want,
                                              culex_error *error);

/* Admits who may have room now, at most *budget runs, which it lowers. Writes the ledger back. */
culex_status culex__sqlite_admission_run(struct culex_sqlite *store,
                                         struct culex_sqlite_queue *queue, size_t *budget,
                                         size_t *ret_moved, culex_error *error);

/* When the next key wants to be looked at; INT64_MAX: none. */
culex_status culex__sqlite_admission_next(struct culex_sqlite *store,
                                          const struct culex_sqlite_queue *queue,
                                          int64_t *ret_at_ms, culex_error *error);

#endif
