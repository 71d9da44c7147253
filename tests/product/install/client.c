/* client.c - all that a producer's library is for, with a worker beside it: see client_test.py. */
#include <stdio.h>
#include <string.h>

#include "hello_job.h"

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%d: %s: %s\n", __LINE__, #condition, error.text);                     \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

enum { COUNT = 3 };

static culex_error error;

static culex_status tag(culex_enqueue_call *call, void *user, culex_error *why)
{
    ++*(int *)user;
    return culex_enqueue_tag(call, "hooked", why);
}

static int many(culex_client *client)
{
    hello_job jobs[COUNT] = {hello_job_make(), hello_job_make(), hello_job_make()};
    culex_uuid ids[COUNT];
    size_t enqueued = 0;
    REQUIRE(hello_job_enqueue_many(client, jobs, COUNT, NULL, ids, &enqueued, &error) == CULEX_OK);
    REQUIRE(enqueued == COUNT);
    culex_enqueue_item items[] = {hello_job_enqueue_item(&jobs[0], NULL),
                                  hello_job_enqueue_item(&jobs[1], NULL)};
    REQUIRE(culex_client_enqueue_all(client, items, 2, &error) == CULEX_OK);
    REQUIRE(items[0].is_enqueued && items[1].is_enqueued);
    return 0;
}

static int once(culex_client *client)
{
    hello_job job = hello_job_make();
    culex_enqueue_options options = culex_enqueue_options_make();
    culex_uuid first, second;
    culex_enqueue_outcome outcome;
    options.idempotency_key = "the one";
    options.ret_outcomes = &outcome;
    REQUIRE(hello_job_enqueue(client, &job, &options, &first, &error) == CULEX_OK);
    REQUIRE(hello_job_enqueue(client, &job, &options, &second, &error) == CULEX_OK);
    REQUIRE(memcmp(&first, &second, sizeof first) == 0);
    options = culex_enqueue_options_make();
    options.has_ticket = true;
    REQUIRE(culex_client_new_ticket(client, &options.ticket, &error) == CULEX_OK);
    REQUIRE(hello_job_enqueue(client, &job, &options, &first, &error) == CULEX_OK);
    REQUIRE(hello_job_enqueue(client, &job, &options, &second, &error) == CULEX_OK);
    REQUIRE(memcmp(&first, &second, sizeof first) == 0);
    return 0;
}

static int batch(culex_client *client)
{
    hello_job job = hello_job_make();
    culex_batch members;
    culex_batch_info info;
    culex_enqueue_options options = culex_enqueue_options_make();
    REQUIRE(culex_batch_open(client, "hello", NULL, &members, &error) == CULEX_OK);
    options.batch = &members;
    REQUIRE(hello_job_enqueue(client, &job, &options, NULL, &error) == CULEX_OK);
    options.batch_when = CULEX_BATCH_ON_COMPLETE;
    REQUIRE(hello_job_enqueue(client, &job, &options, NULL, &error) == CULEX_OK);
    REQUIRE(culex_batch_close(client, &members, &error) == CULEX_OK);
    REQUIRE(culex_batch_look(client, &members, &info, &error) == CULEX_OK);
    return 0;
}

/* Delayed runs too, and what comes back. */
static int result(culex_client *client)
{
    hello_job job = hello_job_make();
    culex_arena *arena = culex_arena_create();
    const hello_result *value = NULL;
    culex_uuid id;
    culex_run_info *run = NULL;
    job.name = "Bo";
    REQUIRE(hello_job_enqueue_in(client, &job, culex_milliseconds(50), &id, &error) == CULEX_OK);
    REQUIRE(hello_job_wait(client, id, culex_seconds(60), arena, NULL, &value, &error) == CULEX_OK);
    REQUIRE(value != NULL && strcmp(value->text, "Bo") == 0);
    REQUIRE(culex_client_get(client, "hello", id, &run, &error) == CULEX_OK);
    REQUIRE(run->state == CULEX_RUN_DONE && strcmp(run->tags, "hooked") == 0);
    culex_run_info_free(run);
    culex_arena_free(arena);
    return 0;
}

/* Its first run; the worker has the others. */
static int chain(culex_client *client)
{
    hello_job job = hello_job_make();
    culex_wait end = {.queue = "hello"};
    REQUIRE(talk_chain_enqueue(client, &job, NULL, &end.id, &error) == CULEX_OK);
    REQUIRE(culex_client_wait(client, &end, 1, 1, culex_seconds(60), &error) == CULEX_OK);
    REQUIRE(end.end == CULEX_WAIT_DONE);
    culex_run_info_free(end.run);
    return 0;
}

/* What generated code has, and the library has not. */
static int lacking(void)
{
    uint64_t version;
    hello_metadata metadata;
    REQUIRE(hello_job_register(NULL, NULL, NULL) == CULEX_EUNSUPPORTED);
    REQUIRE(talk_chain_register(NULL) == CULEX_EUNSUPPORTED);
    REQUIRE(hello_job_metadata_get(NULL, &metadata, &version, &error) == CULEX_EUNSUPPORTED);
    REQUIRE(strstr(error.text, "link libculex") != NULL);
    return 0;
}

int main(void)
{
    culex_client *client = NULL;
    int hooked = 0;
    REQUIRE(culex_client_open(NULL, NULL, &client, &error) == CULEX_OK);
    REQUIRE(culex_client_on_enqueue(client, tag, &hooked, &error) == CULEX_OK);
    if (many(client) != 0 || once(client) != 0 || batch(client) != 0 || result(client) != 0 ||
        chain(client) != 0 || lacking() != 0)
        return 1;
    culex_client_close(client);
    REQUIRE(hooked > 0);
    puts("ok");
    return 0;
}
