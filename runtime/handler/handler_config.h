/* handler/handler_config.h - what the place in which handlers run must know, be it a thread or a
 * child. */
#ifndef CULEX_HANDLER_HANDLER_CONFIG_H
#define CULEX_HANDLER_HANDLER_CONFIG_H

#include "client/enqueue_gate.h"
#include "client/home_store.h"
#include "handler/chain.h"
#include "handler/tracing.h"
#include "handler/process_hooks.h"
#include "log/log.h"
#include "platform/env.h"

struct culex_keys;

struct culex_handler_config {
    const struct culex_log *log;
    const struct culex_env *env;
    const struct culex_job *jobs; /* all that will ever be submitted */
    size_t job_count;
    int64_t lease_ms;
    struct culex_process_hooks hooks;
    struct culex_enqueue_gate gate;
    struct culex_chains chains;
    struct culex_tracing tracing;
    const struct culex_keys *keys; /* NULL: there are none */
    int64_t store_timeout_ms;      /* how long a handler's call of the worker's store may take */
    struct culex_home_store home;  /* the worker's store as it was told */
    /* Called in every process that may run handlers, before any does: wipes what the supervisor
     * knows and handlers must not. NULL for nothing. */
    void (*forget)(void *user);
    void *forget_user;
};

#endif
