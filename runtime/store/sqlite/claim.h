/* store/sqlite/claim.h - granting ready runs, and refusing those that must not run. */
#ifndef CULEX_STORE_SQLITE_CLAIM_H
#define CULEX_STORE_SQLITE_CLAIM_H

#include "store/sqlite/queue.h"

struct culex_sqlite;

/* Grants up to step->want ready runs into reply->grants, and parks those of which a limit has no
 * room; *budget is of culex__sqlite_admission_run. *ret_is_cut tells that it stopped early although
 * more may be there. */
culex_status culex__sqlite_claim(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                 const struct culex_step *step, struct culex_step_reply *reply,
                                 size_t *budget, bool *ret_is_cut, culex_error *error);

#endif
