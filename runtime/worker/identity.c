#include "worker/identity.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "worker/worker_private.h"

/* A name that a second live worker, of this process or another, cannot have by accident: the
 * store takes the runs of an older session away from a name that says hello again. */
static void name_choose(culex_worker *worker)
{
    struct culex_identity *identity = &worker->identity;
    if (worker->options.name != NULL && worker->options.name[0] != '\0') {
        snprintf(identity->name, sizeof identity->name, "%s", worker->options.name);
        return;
    }
    const struct culex_process_facts facts = culex__env_process_facts(worker->env);
    snprintf(identity->name, sizeof identity->name, "%s-%ld-%08llx",
             facts.host[0] != '\0' ? facts.host : "localhost", (long)facts.pid,
             (unsigned long long)(culex__env_random(worker->env) & UINT32_MAX));
}

void culex__session_choose(const culex_worker *worker, char ret_session[CULEX_SESSION_SIZE])
{
    snprintf(ret_session, CULEX_SESSION_SIZE, "%016llx",
             (unsigned long long)culex__env_random(worker->env));
}

void culex__identity_choose(culex_worker *worker)
{
    name_choose(worker);
    culex__session_choose(worker, worker->identity.session);
}

static_assert(CULEX_WORKER_NAME_MAX + sizeof "-01234567" <= CULEX_STORE_WORKER_MAX + 1,
              "a given name and what makes it another");

void culex__identity_rename(culex_worker *worker)
{
    struct culex_identity *identity = &worker->identity;
    char old[sizeof identity->name];
    strcpy(old, identity->name);
    snprintf(identity->name, sizeof identity->name, "%.*s-%08llx", CULEX_WORKER_NAME_MAX, old,
             (unsigned long long)(culex__env_random(worker->env) & UINT32_MAX));
    identity->name_count++;
    culex__log_write(&worker->log, CULEX_LOG_ERROR, NULL,
                     "another worker has started under the name %s and was given the runs that "
                     "this one held; this one goes on as %s. Give each worker its own name",
                     old, identity->name);
}
