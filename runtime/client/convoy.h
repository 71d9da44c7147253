/* client/convoy.h - enqueue calls of several threads, carried to the store in one: group commit.
 *
 * A thread that waits for its turn with the client shows its call, a run that is encoded. Whose
 * turn it is takes along what waits for the same queue, and brings back the answers. So a store is
 * asked, and a disk written, once for all of them.
 *
 * A convoy is one try, in which each call has a ticket of a producer of its own. If the store does
 * not take it whole, whatever the reason is, each thread makes its call by itself, with that
 * ticket: an error is told to whom it concerns, and the store knows what of an unknown try it has.
 * No call is away for longer than it may take. */
#ifndef CULEX_CLIENT_CONVOY_H
#define CULEX_CLIENT_CONVOY_H

#include "client/effort.h"
#include "store/store.h"
#include "core/ticket.h"

/* A call with one run, and what became of it in a convoy. All is borrowed. */
struct culex_convoy_call {
    const char *queue;
    const struct culex_new_run *run;
    int64_t deadline_ns;
    struct culex_ticket ticket; /* that of the try; of producer 0 while there was none */
    bool is_answered;           /* and `result` is the answer */
    bool is_unknown;            /* the try may have been applied */
    struct culex_enqueue_result result;
    culex_error *cause; /* NULL, or where it is put why the try failed */
};

/* In its turn, which knows the store's clock: takes along whom it finds, if anybody. Then `call`
 * is answered, or has the ticket with which it goes on. */
void culex__convoy_go(struct culex_effort *effort, struct culex_convoy_call *call);

#endif
