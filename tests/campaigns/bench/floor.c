#include "floor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "side.h"

enum { BATCH = 32 }; /* where the knobs leave it to the product */

void floor_die(const char *what, const char *why)
{
    fprintf(stderr, "bench: floor: %s: %s\n", what, why);
    exit(1);
}

uint64_t floor_token(void)
{
    static _Thread_local uint64_t state;
    if (state == 0)
        state =
            ((uint64_t)getpid() << 32) ^ (uint64_t)(uintptr_t)&state ^ (uint64_t)(now_s() * 1e9);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static const struct floor_store *store_of(const struct knobs *knobs)
{
    return strncmp(knobs->url, "redis", 5) == 0 ? &floor_redis : &floor_sqlite;
}

/* --- producers --------------------------------------------------------------------------- */

struct producer {
    const struct floor_store *table;
    void *store;
};

static void *producer_open(const struct knobs *knobs)
{
    struct producer *producer = calloc(1, sizeof *producer);
    producer->table = store_of(knobs);
    producer->store = producer->table->open(knobs);
    return producer;
}

static double producer_run(void *user, const struct knobs *knobs, size_t first, size_t count)
{
    struct producer *producer = user;
    size_t len = knobs->bytes > 0 ? knobs->bytes : FLOOR_PAYLOAD;
    size_t batch = knobs->batch > 1 ? knobs->batch : 1;
    char *payload = malloc(len);
    memset(payload, 'x', len);
    batch = batch < FLOOR_BATCH_MAX ? batch : FLOOR_BATCH_MAX;
    for (size_t at = 0; at < count; at += batch)
        producer->table->put(producer->store, first + at, count - at < batch ? count - at : batch,
                             payload, len);
    free(payload);
    return now_s();
}

static void producer_close(void *user)
{
    struct producer *producer = user;
    producer->table->close(producer->store);
    free(producer);
}

/* --- what runs a run ----------------------------------------------------------------------- */

/* A child that answers a byte with a byte, which is the least that a handler in a process costs. */
struct hands {
    culex_isolation isolation;
    int channel;
    pid_t child;
};

static void child_run(int channel)
{
    char byte;
    while (read(channel, &byte, 1) == 1)
        if (write(channel, &byte, 1) != 1)
            break;
    _exit(0);
}

static struct hands hands_make(culex_isolation isolation)
{
    struct hands hands = {isolation, -1, -1};
    int ends[2];
    if (isolation != CULEX_ISOLATION_PROCESS)
        return hands;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        floor_die("child", "no socket");
    hands.child = fork();
    if (hands.child == 0) {
        close(ends[0]);
        child_run(ends[1]);
    }
    close(ends[1]);
    hands.channel = ends[0];
    return hands;
}

static void run_in_fork(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    if (pid < 0 || waitpid(pid, NULL, 0) != pid)
        floor_die("child", "no fork");
}

static void hands_run(struct hands *hands)
{
    char byte = 0;
    if (hands->isolation == CULEX_ISOLATION_JOB)
        run_in_fork();
    if (hands->isolation == CULEX_ISOLATION_PROCESS &&
        (write(hands->channel, &byte, 1) != 1 || read(hands->channel, &byte, 1) != 1))
        floor_die("child", "no answer");
}

static void hands_free(struct hands *hands)
{
    if (hands->isolation != CULEX_ISOLATION_PROCESS)
        return;
    close(hands->channel);
    waitpid(hands->child, NULL, 0);
}

/* --- drainers ---------------------------------------------------------------------------- */

struct drainer {
    const struct floor_store *table;
    void *store;
    struct hands hands;
};

static void *drainer_open(const struct knobs *knobs)
{
    struct drainer *drainer = calloc(1, sizeof *drainer);
    drainer->hands = hands_make(knobs->isolation);
    drainer->table = store_of(knobs);
    drainer->store = drainer->table->open(knobs);
    return drainer;
}

static size_t batch_of(const struct knobs *knobs)
{
    return knobs->batch > 0 && knobs->batch <= FLOOR_BATCH_MAX ? knobs->batch : BATCH;
}

static double drainer_run(void *user, const struct knobs *knobs, size_t first, size_t count)
{
    struct floor_id ids[FLOOR_BATCH_MAX];
    struct drainer *drainer = user;
    size_t held = 0, total = 0, wanted = knobs->stop_after > 0 ? knobs->stop_after : count;
    (void)first;
    do {
        size_t left = knobs->stop_after > 0 ? knobs->stop_after - total : batch_of(knobs);
        held = drainer->table->take(drainer->store, ids, held,
                                    left < batch_of(knobs) ? left : batch_of(knobs), ids);
        for (size_t i = 0; i < held; i++)
            hands_run(&drainer->hands);
        total += held;
    } while (held > 0 && (knobs->stop_after == 0 || total < knobs->stop_after));
    if (knobs->processes == 1 && total != wanted)
        floor_die("drain", "the queue did not hold what was enqueued");
    return now_s();
}

static void drainer_close(void *user)
{
    struct drainer *drainer = user;
    drainer->table->close(drainer->store);
    hands_free(&drainer->hands);
    free(drainer);
}

/* --- consumer ---------------------------------------------------------------------------- */

static void run_note(struct drainer *drainer, struct meter *meter, size_t number)
{
    hands_run(&drainer->hands);
    meter_start(meter, number);
}

static void floor_consume(const struct knobs *knobs, struct meter *meter)
{
    struct floor_id ids[FLOOR_BATCH_MAX];
    struct drainer *drainer = drainer_open(knobs);
    size_t held = 0;
    for (;;) {
        held = drainer->table->take(drainer->store, ids, held, batch_of(knobs), ids);
        if (held == 0 && drainer->table->await(drainer->store, meter, &ids[0]))
            held = 1;
        for (size_t i = 0; i < held; i++)
            run_note(drainer, meter, ids[i].number);
    }
}

const struct side floor_side = {{producer_open, producer_run, producer_close, false},
                                {drainer_open, drainer_run, drainer_close, false},
                                floor_consume,
                                floor_codec};
