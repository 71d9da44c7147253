/* ops/command/returned.h - runs that workers give back, as they have no handler for them or cannot
 * read them. Between two tries such a run is scheduled, so it has no age. */
#ifndef OPS_COMMAND_RETURNED_H
#define OPS_COMMAND_RETURNED_H

#include "command/command.h"

enum { OPS_RETURNED_SIZE = 160 };

struct ops_returned {
    uint64_t count;               /* of the jobs below */
    char text[OPS_RETURNED_SIZE]; /* "wink, 5 times: no handler is registered for this job": of the
                                     first job; "" for none */
};

/* Of the scheduled and waiting runs of `queue` a page each is looked at, those that are due first,
 * and of these the first 16 jobs. Runs that went back less than three times are none: in a deploy
 * a producer may be newer than the workers for a while. */
culex_status ops_returned_read(struct ops *ops, const char *queue,
                               struct ops_returned *ret_returned, culex_error *error);

#endif
