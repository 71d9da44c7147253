/* store/sqlite/schemas.h - which schemas somebody has looked for runs of. */
#ifndef CULEX_STORE_SQLITE_SCHEMAS_H
#define CULEX_STORE_SQLITE_SCHEMAS_H

#include "store/sqlite/queue.h"

/* Somebody begins to look for runs that need this schema, or with 0 for the digest those of all
 * texts, if it is there; `looked_ms` 0: a run that he may have seen already has become one that
 * needs it, so what he finds is of no moment. */
culex_status culex__sqlite_schema_look(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue,
                                       const struct culex_schema_id *id, int64_t looked_ms,
                                       culex_error *error);

#endif
