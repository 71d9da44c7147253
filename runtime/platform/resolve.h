/* platform/resolve.h - addresses of a host, by a deadline.
 *
 * getaddrinfo(3) knows no deadline: with a silent name server it takes half a minute and more. So
 * a name is asked for on a thread of its own, which is left to itself when the deadline comes and
 * then frees what it holds. A process has one such thread at most; whoever wants another name waits
 * for its end, but not beyond the deadline of its own call. An address in figures needs no thread.
 *
 * The thread blocks all signals and touches nothing but its question, so it may be there while the
 * process forks. It does not live on in the child, which may ask anew. */
#ifndef CULEX_PLATFORM_RESOLVE_H
#define CULEX_PLATFORM_RESOLVE_H

#include <netdb.h>

#include <culex/error.h>

#include "platform/deadline.h"

/* Addresses for stream sockets, to be released with freeaddrinfo(3). CULEX_ECONNECT when there are
 * none by the deadline, which is looked at every 250 ms. Any thread. */
culex_status culex__resolve(const char *host, int port, const struct culex_deadline *deadline,
                            struct addrinfo **ret_found, culex_error *error);

#endif
