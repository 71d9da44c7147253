/* child/inbox.h - what a child reads from its channel: runs to come, and the answers
 * to what its handler asks of the worker's store meanwhile.
 *
 * Runs that come while an answer is awaited are kept, in their order, for later. */
#ifndef CULEX_CHILD_INBOX_H
#define CULEX_CHILD_INBOX_H

#include <stdatomic.h>
#include <sys/types.h>

#include "handler/errand.h"

struct culex_inbox_packet;

struct culex_inbox {
    const struct culex_env *env;
    int fd;
    uint32_t number;                  /* of the last errand */
    struct culex_inbox_packet *spare; /* room for the next packet to keep */
    struct culex_inbox_packet *first; /* kept, oldest first */
    struct culex_inbox_packet *last;
};

/* Waits for the next packet that is no answer; as recv(2). The handler is not running. */
ssize_t culex__inbox_receive(struct culex_inbox *inbox, void *ret_packet, size_t size);

/* True when nothing is there to be received and nothing comes for `span_ns`. */
bool culex__inbox_is_quiet(const struct culex_inbox *inbox, int64_t span_ns);

/* Sends the errand and waits for its answer; for struct culex_errand_way, whose `self` is the
 * inbox. One call at a time, while the handler runs. CULEX_EINVAL when the handler
 * has closed the channel. */
culex_status culex__inbox_exchange(void *self, const culex_buf *errand, int64_t deadline_ns,
                                   culex_buf *answer, culex_error *error);

#endif
