/* worker/identity.h - as whom a worker appears in its store: its name, and the session of this
 * life.
 */
#ifndef CULEX_WORKER_IDENTITY_H
#define CULEX_WORKER_IDENTITY_H

#include <culex/worker.h>

#include "store/store.h"

enum { CULEX_SESSION_SIZE = 17, CULEX_WORKER_NAME_MAX = 100 /* bytes, as it is given */ };

struct culex_identity {
    char name[CULEX_STORE_WORKER_MAX + 1];
    unsigned name_count;              /* changes of the name */
    char session[CULEX_SESSION_SIZE]; /* a random token: under which the lanes begin */
};

/* At the start of a worker's life. */
void culex__identity_choose(culex_worker *worker);

/* Another worker lives under the same name: takes a new one, and logs that. */
void culex__identity_rename(culex_worker *worker);

void culex__session_choose(const culex_worker *worker, char ret_session[CULEX_SESSION_SIZE]);

#endif
