/* client/forward.h - from a client's spool into the store, in order and each run once.
 *
 * A run is sent with a key that the store remembers, its own or its program's, and before that the
 * spool notes that it may be in the store from now on; it is taken out when the answer is there. So
 * who died in between leaves it to be sent again, and the store knows it; but not once the key's
 * window may be over: then it stands aside. A run of a call that stayed unknown is sent with that
 * call's ticket, in which the store sees for itself whether it is too old. */
#ifndef CULEX_CLIENT_FORWARD_H
#define CULEX_CLIENT_FORWARD_H

#include "client/effort.h"

/* In its turn, before an enqueue into `queue`: forwards some, if the store is back. *ret_must_wait:
 * the call has to go behind others in the spool, or the store is known to be away. Fails only when
 * the spool cannot be read. */
culex_status culex__forward_before(struct culex_effort *effort, const char *queue,
                                   bool *ret_must_wait, culex_error *error);

#endif
