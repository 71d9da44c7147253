#include "engine/advice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "engine/newrun.h"
#include "engine/options.h"

/* " did you mean X?" or nothing. */
static const char *meant_format(const struct culex__nearest *nearest, char ret_text[128])
{
    ret_text[0] = '\0';
    if (nearest->best != NULL)
        snprintf(ret_text, 128, "; did you mean %s?", nearest->best);
    return ret_text;
}

/* --- variables ------------------------------------------------------------------------------- */

static bool variable_is_known(struct culex__nearest *nearest)
{
    const char *known;
    for (size_t i = 0; (known = culex__settings_variable(i)) != NULL; i++) {
        if (strcmp(known, nearest->word) == 0)
            return true;
        culex__nearest_offer(nearest, known);
    }
    return false;
}

void culex__advise_variables(const struct culex_log *log, char *const *environment)
{
    for (; environment != NULL && *environment != NULL; environment++) {
        char name[128], meant[128];
        int len = (int)strcspn(*environment, "=");
        if (strncmp(*environment, "CULEX_", strlen("CULEX_")) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", len, *environment);
        struct culex__nearest nearest = {.word = name};
        if (!variable_is_known(&nearest))
            culex__log_write(log, CULEX_LOG_WARNING, NULL, "the variable %s means nothing%s", name,
                             meant_format(&nearest, meant));
    }
}

/* --- queues ---------------------------------------------------------------------------------- */

static bool queue_is_fed(const culex_worker *worker, struct culex__nearest *nearest)
{
    for (size_t i = 0; i < worker->job_count; i++) {
        const char *queue = culex__job_queue(worker->jobs[i].type);
        if (strcmp(queue, nearest->word) == 0)
            return true;
        culex__nearest_offer(nearest, queue);
    }
    return false;
}

/* Whether the store knows the queue; what it knows may have been meant. `names` may be NULL. */
static bool queue_is_there(char *const *names, struct culex__nearest *nearest)
{
    for (; names != NULL && *names != NULL; names++) {
        if (strcmp(*names, nearest->word) == 0)
            return true;
        culex__nearest_offer(nearest, *names);
    }
    return false;
}

static void queue_advise(const culex_worker *worker, const char *queue)
{
    struct culex__nearest nearest = {.word = queue};
    const struct culex_log_subject subject = {.queue = queue};
    char **names = NULL, meant[128];
    if (queue_is_fed(worker, &nearest))
        return;
    if (worker->backend->ops->queues(worker->backend, &names, NULL) != CULEX_OK)
        names = NULL; /* not allowed, or out of reach: what the jobs say must do */
    bool is_there = queue_is_there(names, &nearest);
    culex__log_write(&worker->log, CULEX_LOG_WARNING, &subject,
                     "queue %s: no job that is registered here goes there%s%s", queue,
                     is_there ? " by its schema" : ", and nobody has used it yet",
                     is_there ? "" : meant_format(&nearest, meant));
    free(names);
}

static bool any_queue_is_fed(const culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        if (queue_is_fed(worker, &(struct culex__nearest){.word = worker->lane_names[i]}))
            return true;
    }
    return false;
}

static culex_status queues_refuse(const culex_worker *worker, struct culex__nearest *nearest,
                                  culex_error *error)
{
    char meant[128];
    bool is_one = worker->lane_count == 1;
    return culex__fail(error, CULEX_EUSAGE,
                       "nothing to do here: no job that is registered goes to queue %s%s, and the "
                       "store has no such queue%s (one that only producers name begins with its "
                       "first run)",
                       nearest->word, is_one ? "" : " or another of those named",
                       meant_format(nearest, meant));
}

culex_status culex__queues_check(const culex_worker *worker, culex_error *error)
{
    char **names = NULL;
    bool is_there = false;
    struct culex__nearest nearest = {.word = worker->lane_names[0]};
    if (any_queue_is_fed(worker) ||
        worker->backend->ops->queues(worker->backend, &names, NULL) != CULEX_OK)
        return CULEX_OK; /* not allowed, or out of reach: nobody knows better */
    for (size_t i = 1; i < worker->lane_count && !is_there; i++)
        is_there = queue_is_there(names, &(struct culex__nearest){.word = worker->lane_names[i]});
    (void)queue_is_fed(worker, &nearest); /* for what may have been meant */
    is_there = is_there || queue_is_there(names, &nearest);
    culex_status status = is_there ? CULEX_OK : queues_refuse(worker, &nearest, error);
    free(names);
    return status;
}

void culex__advise_queues(const culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++)
        queue_advise(worker, worker->lane_names[i]);
}

culex_status culex__advise_queue(struct culex_backend *backend, const char *queue,
                                 culex_error *error)
{
    struct culex__nearest nearest = {.word = queue};
    char **names = NULL, meant[128];
    if (error == NULL)
        return CULEX_ENOTFOUND;
    if (backend->ops->queues(backend, &names, NULL) != CULEX_OK)
        names = NULL; /* not allowed, or out of reach */
    if (queue_is_there(names, &nearest))
        nearest.best = NULL; /* a name whose first run was refused */
    culex__fail(error, CULEX_ENOTFOUND,
                "the store has no queue '%s'%s (one begins with its first run or its first worker)",
                queue, meant_format(&nearest, meant));
    free(names);
    return CULEX_ENOTFOUND;
}
