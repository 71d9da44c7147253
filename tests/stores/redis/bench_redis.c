/* How fast the store is without an engine: enqueue in batches, then claim and ack in batches.
 *
 *   bench_redis [runs] [batch] [events that are kept]      on a private server, UNIX socket, no
 * persistence */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "redis_server.h"

enum { BATCH_MAX = 200 };

static void fatal(const char *doing, const culex_error *error)
{
    fprintf(stderr, "%s: %s\n", doing, error->text);
    exit(1);
}

static void fill(struct culex_store *store, unsigned runs, unsigned batch)
{
    struct culex_new_run news[BATCH_MAX];
    struct culex_enqueue_result results[BATCH_MAX];
    struct culex_ticket last = {1, 0};
    culex_error error;
    for (unsigned done = 0; done < runs; done += batch) {
        for (unsigned i = 0; i < batch; i++) {
            news[i] = (struct culex_new_run){.job = "bench.job",
                                             .attempts_max = 4,
                                             .keep_success_ms = 1000,
                                             .keep_failure_ms = 86400000,
                                             .tags = "",
                                             .payload = "{\"n\":1234567890,\"text\":\"abcdef\"}",
                                             .payload_len = 32};
        }
        struct culex_ticket ticket = culex__ticket_next(&last, culex__env_clock_ms(store->env));
        if (store->ops->enqueue(store, "q", &ticket, news, batch, results, &error) != CULEX_OK)
            fatal("enqueue", &error);
    }
}

static unsigned drain(struct culex_store *store, unsigned runs, unsigned batch)
{
    struct culex_ack acks[BATCH_MAX];
    unsigned settled = 0, held = 0;
    uint64_t nonce = 0;
    culex_error error;
    while (settled < runs) {
        struct culex_step step = {.queue = "q",
                                  .session = "0123456789abcdef",
                                  .nonce = ++nonce,
                                  .want = batch,
                                  .max_bytes = 1 << 20,
                                  .lease_ms = 30000,
                                  .acks = acks,
                                  .ack_count = held};
        struct culex_step_reply reply;
        if (store->ops->step(store, &step, &reply, &error) != CULEX_OK)
            fatal("step", &error);
        settled += held;
        held = (unsigned)reply.grant_count;
        for (unsigned i = 0; i < held; i++)
            acks[i] = (struct culex_ack){.id = reply.grants[i].facts.id,
                                         .attempt = reply.grants[i].facts.attempt,
                                         .event = CULEX_EVENT_DONE,
                                         .claim_ms = reply.grants[i].facts.claim_ms};
        store->ops->step_release(store, &reply);
        if (held == 0)
            break;
    }
    return settled;
}

static double server_cpu_us(const struct redis_server *server)
{
    redisReply *reply = redis_server_command(server, "INFO cpu");
    double seconds = 0;
    if (reply != NULL)
        seconds = strtod(strstr(reply->str, "used_cpu_user:") + 14, NULL) +
                  strtod(strstr(reply->str, "used_cpu_sys:") + 13, NULL);
    freeReplyObject(reply);
    return seconds * 1e6;
}

static void report(const char *what, unsigned runs, int64_t ns, double cpu_us)
{
    printf("%-8s %8.0f runs/s  %5.2f us of redis CPU a run\n", what, runs * 1e9 / (double)ns,
           cpu_us / runs);
}

static void events_keep(struct culex_store *store, uint64_t most)
{
    size_t released;
    int64_t now_ms;
    culex_error error;
    if (store->ops->hello(store, "q", "bench", "0123456789abcdef", &released, &now_ms, &error) !=
            CULEX_OK ||
        store->ops->events_keep(store, "q", most, &error) != CULEX_OK)
        fatal("events", &error);
}

int main(int argc, char **argv)
{
    unsigned runs = argc > 1 ? (unsigned)atoi(argv[1]) : 100000;
    unsigned batch = argc > 2 ? (unsigned)atoi(argv[2]) : 32;
    struct redis_server server;
    struct culex_store *store;
    const struct culex_env *env = culex__env_system();
    culex_error error;
    if (batch == 0 || batch > BATCH_MAX || !redis_server_start(&server, NULL))
        return 77;
    if (culex__store_open(server.url, NULL, env, &store, &error) != CULEX_OK)
        fatal("open", &error);
    if (argc > 3)
        events_keep(store, strtoull(argv[3], NULL, 10));
    double cpu = server_cpu_us(&server);
    int64_t start = culex__env_boottime_ns(env);
    fill(store, runs, batch);
    report("enqueue", runs, culex__env_boottime_ns(env) - start, server_cpu_us(&server) - cpu);
    cpu = server_cpu_us(&server);
    start = culex__env_boottime_ns(env);
    unsigned settled = drain(store, runs, batch);
    report("drain", settled, culex__env_boottime_ns(env) - start, server_cpu_us(&server) - cpu);
    store->ops->close(store);
    redis_server_stop(&server);
    return settled >= runs ? 0 : 1;
}
