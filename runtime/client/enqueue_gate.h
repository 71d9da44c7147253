/* client/enqueue_gate.h - the program's hook before an enqueue: see culex_client_on_enqueue. */
#ifndef CULEX_CLIENT_ENQUEUE_GATE_H
#define CULEX_CLIENT_ENQUEUE_GATE_H

#include <culex/hooks.h>

#include "client/newrun.h"

struct culex_enqueue_gate {
    culex_enqueue_hook hook;      /* NULL: there is none */
    culex_enqueue_hook_call call; /* NULL: the hook is called as it is */
    void *user;
};

/* What the hook leaves. */
struct culex_enqueue_draft {
    const culex_job_type *type;
    culex_enqueue_options options;    /* at first the caller's */
    const char *tags[CULEX_TAGS_MAX]; /* in place of the schema's or the caller's */
    char texts[CULEX_TAGS_SIZE];      /* of those that the hook has added */
    size_t used;                      /* of them */
};

/* `options` may be NULL. */
void culex__enqueue_draft_make(struct culex_enqueue_draft *draft, const culex_job_type *type,
                               const culex_enqueue_options *options);

/* Calls the hook, which is there, for a call that has this draft. Its options are then what is to
 * be enqueued with, and live as long as the draft and what the hook has pointed to. */
culex_status culex__enqueue_gate_pass(const struct culex_enqueue_gate *gate,
                                      culex_enqueue_call *call, culex_error *error);

#endif
