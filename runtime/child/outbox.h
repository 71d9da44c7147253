/* child/outbox.h - what a child says to its supervisor: one packet of one record each.
 *
 * The channel is the child's own, but the handler may do anything to it. What cannot be sent
 * because of that is skipped: the mailbox still tells how runs end. */
#ifndef CULEX_CHILD_OUTBOX_H
#define CULEX_CHILD_OUTBOX_H

#include <culex/codec.h>

#include "child/child_message.h"

struct culex_outbox {
    int fd;       /* of the channel, away from the handlers' own descriptors */
    uint64_t seq; /* of the run at hand, 0 before the first */
};

/* Sends a record of `head` and `bytes`, either of which may be empty; waits for room. Any thread.
 * False when the supervisor has closed the channel: there is nothing to live for any more. */
bool culex__outbox_send(const struct culex_outbox *outbox, enum culex_record_type type,
                        const void *head, size_t head_len, const void *bytes, size_t len);

/* The same of a text, made valid UTF-8 and cut to what the supervisor takes. */
bool culex__outbox_send_text(const struct culex_outbox *outbox, enum culex_record_type type,
                             const char *text, size_t len);

/* The same of a result or of follow-ups, in as many parts as it takes. */
bool culex__outbox_send_parts(const struct culex_outbox *outbox, enum culex_record_type type,
                              const culex_buf *whole);

#endif
