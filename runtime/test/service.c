#include "test/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "client/newrun.h"
#include "test/kit.h"
#include "worker/worker_private.h"

/* --- queues --------------------------------------------------------------------------------------
 */

static void queue_add(struct culex_service *service, const char *queue)
{
    for (size_t i = 0; i < service->queue_count; i++) {
        if (strcmp(service->queues[i], queue) == 0)
            return;
    }
    service->queues[service->queue_count++] = queue;
}

static culex_status queues_find(culex_test *test, culex_error *error)
{
    struct culex_service *service = &test->service;
    const culex_worker *worker = test->worker;
    size_t count = 0;
    culex_status status = test->store->ops->queues(test->store, &service->names, error);
    if (status != CULEX_OK)
        return status;
    while (service->names[count] != NULL)
        count++;
    service->queues = calloc(count + worker->job_count + 1, sizeof *service->queues);
    if (service->queues == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for %zu queues", count);
    service->queue_count = 0;
    for (size_t i = 0; i < count; i++)
        queue_add(service, service->names[i]);
    for (size_t i = 0; i < worker->job_count; i++)
        queue_add(service, culex__job_queue(worker->jobs[i].type));
    return CULEX_OK;
}

/* --- offers --------------------------------------------------------------------------------------
 */

/* Of more names than a worker may offer the last ones are left out, as they must be there. */
static void offer_add(struct culex_service *service, const char *name)
{
    char text[CULEX_SERVICE_OFFER_SIZE];
    snprintf(text, sizeof text, "%s=%d", name, CULEX_OFFER_UNITS_MAX);
    for (size_t i = 0; i < service->offer_count; i++) {
        if (strcmp(service->offers[i], text) == 0)
            return;
    }
    if (service->offer_count == CULEX_OFFERS_MAX)
        return;
    strcpy(service->offers[service->offer_count], text);
    service->offer_texts[service->offer_count] = service->offers[service->offer_count];
    service->offer_count++;
}

static void offers_find(culex_test *test)
{
    const culex_worker *worker = test->worker;
    for (size_t i = 0; i < worker->job_count; i++) {
        const culex_job_type *type = worker->jobs[i].type;
        for (size_t k = 0; k < type->need_count; k++)
            offer_add(&test->service, type->needs[k].name);
    }
}

/* --- both ----------------------------------------------------------------------------------------
 */

culex_status culex__service_begin(culex_test *test, culex_error *error)
{
    struct culex_service *service = &test->service;
    culex_worker_options *options = &test->worker->options;
    culex_status status = queues_find(test, error);
    offers_find(test);
    options->queues = service->queues;
    options->queue_count = service->queue_count;
    options->offers = service->offer_count > 0 ? service->offer_texts : NULL;
    options->offer_count = service->offer_count;
    return status;
}

void culex__service_end(culex_test *test)
{
    culex_worker_options *options = &test->worker->options;
    options->queues = options->offers = NULL;
    options->queue_count = options->offer_count = 0;
    free(test->service.names);
    free(test->service.queues);
    test->service = (struct culex_service){0};
}
