/* client/spooling.h - a client's spool: what goes into it, and what is said of it. What comes out
 * is client/forward.h. All in the client's turn. */
#ifndef CULEX_CLIENT_SPOOLING_H
#define CULEX_CLIENT_SPOOLING_H

#include <culex/client.h>

#include "core/ticket.h"
#include "log/log.h"
#include "store/sqlite/spool.h"
#include "store/store.h"

enum { CULEX_SPOOLING_PART = 2 }; /* of the time of a call the store has one part */

struct culex_spooling {
    const struct culex_env *env;
    struct culex_spool *file;
    uint64_t runs_max, bytes_max;
    int64_t away_until_ns; /* boot time: not asked before; 0: it is there, as far as is known */
    bool is_told;          /* somebody was told that runs wait */
    int64_t told_ns;       /* when last */
    struct culex_log log;
    culex_error reason; /* why they wait, as it was last seen */
};

/* Whether a client that is opened so has one. CULEX_EUSAGE for a variable that is CULEX_SPOOL
 * misspelt. */
culex_status culex__spooling_want(const char *url, const culex_client_options *options,
                                  bool *ret_is_wanted, culex_error *error);

/* Of such a client. CULEX_EUSAGE for a variable, CULEX_EINVAL for a member of the options, and what
 * culex__spool_open gives. */
culex_status culex__spooling_open(const culex_client_options *options,
                                  const struct culex_store *store, const struct culex_env *env,
                                  struct culex_spooling **ret_spooling, culex_error *error);

/* Accept NULL. The second is for a forked process. */
void culex__spooling_close(struct culex_spooling *spooling);
void culex__spooling_abandon(struct culex_spooling *spooling);

/* The runs of a call that the store did not take. */
struct culex_spooling_call {
    const char *queue;
    const struct culex_new_run *runs;
    size_t count;
    struct culex_ticket
        ticket;       /* of a try that may have been applied; producer 0: there was none */
    int64_t tried_ms; /* with a ticket: when that was at the earliest, by the store's clock */
};

/* Returns when they are on the disk. */
culex_status culex__spooling_put(struct culex_spooling *spooling,
                                 const struct culex_spooling_call *call, culex_error *error);

/* The store is away, which took `spent_ns` to find out: for a while it is not asked again. */
void culex__spooling_note_away(struct culex_spooling *spooling, int64_t spent_ns,
                               const culex_error *reason);
bool culex__spooling_is_away(const struct culex_spooling *spooling);

/* What is in it, as it was just seen: says when nothing waits any more. */
void culex__spooling_note_state(struct culex_spooling *spooling,
                                const struct culex_spool_state *state);

/* A run of `queue` was put aside. */
void culex__spooling_tell_aside(struct culex_spooling *spooling, const char *queue,
                                const char *text);

#endif
