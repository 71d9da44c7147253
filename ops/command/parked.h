/* ops/command/parked.h - waiting runs that no worker may take now, and what holds them back. */
#ifndef OPS_COMMAND_PARKED_H
#define OPS_COMMAND_PARKED_H

#include "command/command.h"

enum { OPS_PARKED_SIZE = 400 };

struct ops_parked {
    uint64_t count;              /* a run behind two limits counts behind the one without room */
    uint64_t unoffered;          /* of those that need what no worker offers */
    char needs[OPS_PARKED_SIZE]; /* "needs gpu:1", the first of them; "" for none */
    char text[OPS_PARKED_SIZE];  /* "shop.send:rate holds 3, needs gpu:1 holds 2 (no worker offers
                                    it)"; "" for none */
};

/* Of `queue`, by its limits; with a job by those that its runs may have. A store without them is
 * an empty text. The store tells how many a limit holds, not which. */
culex_status ops_parked_read(struct ops *ops, const char *queue, const char *job,
                             struct ops_parked *ret_parked, culex_error *error);

#endif
