/* client/effort.h - one public call: its turn among threads, its time, its repeats. */
#ifndef CULEX_CLIENT_EFFORT_H
#define CULEX_CLIENT_EFFORT_H

#include <culex/client.h>

struct culex_store;

/* How one public call copes with other threads and a store in trouble: it waits for its turn and
 * repeats until its time is up. Nothing that it does takes longer. */
struct culex_effort {
    culex_client *client;
    int64_t deadline_ns;
    uint32_t failures;
    bool is_unknown; /* a try may have been applied without our knowing */
};

/* The call's time begins. CULEX_EINVAL in a process forked from the one that opened the client:
 * connection, tickets to come and perhaps the turn are the parent's there, and two processes that
 * used them would be one producer. */
culex_status culex__effort_start(culex_client *client, struct culex_effort *ret_effort,
                                 culex_error *error);

/* True when the client is the caller's at once, until culex__effort_end. */
bool culex__effort_enter(struct culex_effort *effort);

/* CULEX_EBUSY when other threads used the client for as long as this call may take. After CULEX_OK
 * the client is the caller's until culex__effort_end; but when *ret_is_carried, which is only told
 * with a load: then another thread took it along, and it is back (base/turn.h). */
culex_status culex__effort_await(struct culex_effort *effort, void *load, bool *ret_is_carried,
                                 culex_error *error);

/* In its turn: the call ends `ms` from now, unless it ends before. */
void culex__effort_shorten(struct culex_effort *effort, int64_t ms);

/* Starts, and waits for the client. */
culex_status culex__effort_begin(culex_client *client, struct culex_effort *ret_effort,
                                 culex_error *error);

/* Trouble that may be over with the next try. */
bool culex__effort_is_passing(culex_status status);

/* True when the try that gave `status` should be repeated; it has waited then. */
bool culex__effort_again(struct culex_effort *effort, culex_status status);

/* The status of the tries so far: CULEX_EUNKNOWN when one may have been applied and the last one
 * got no certain answer. */
culex_status culex__effort_judge(const struct culex_effort *effort, culex_status status,
                                 culex_error *error);

/* Judges, and gives the client back. */
culex_status culex__effort_end(const struct culex_effort *effort, culex_status status,
                               culex_error *error);

/* One operation of a public call; `arg` is what it needs and where its answer goes. */
typedef culex_status (*culex_client_fn)(struct culex_store *store, void *arg, culex_error *error);

/* Calls `function` as an effort of its own. */
culex_status culex__client_perform(culex_client *client, culex_client_fn function, void *arg,
                                   culex_error *error);

#endif
