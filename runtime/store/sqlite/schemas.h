/* store/sqlite/schemas.h - which schemas somebody has looked for runs of. */
#ifndef CULEX_STORE_SQLITE_SCHEMAS_H
#define CULEX_STORE_SQLITE_SCHEMAS_H

#include "store/sqlite/queue.h"

/* Somebody begins to look for runs that need this schema, if it is there; 0: a run that he may have
 * seen already has become one that needs it, so what he finds is of no moment. */
culex_status culex__sqlite_schema_look(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue, const char *job,
                                       uint64_t fingerprint, int64_t looked_ms, culex_error *error);

#endif
