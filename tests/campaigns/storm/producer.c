/* storm/producer.c - enqueues runs until SIGTERM, and notes what it was promised.
 * usage: storm_producer URL FOLDER SEED RUNS-A-SECOND none|process|job
 *
 *   intend ID JOB ACT TIMES         before the call: the run may be in the store from now on
 *   batch COUNT                     before a call that makes the ids of COUNT plain runs itself
 *   acked ID                        after CULEX_OK: from now on it must not be lost
 *   refused ID STATUS               a refusal that no repetition cures: never in a storm
 *
 * Whatever fails is repeated with the same id until the store says yes. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dice.h"
#include "ledger.h"
#include "storm_job.h"

enum {
    BATCH_MAX = 20,
    TIMEOUT_MS = 400,
    TRIES_MAX = 2000,
    LOOK_EVERY = 50,    /* runs between looks at the backlog */
    BACKLOG_MAX = 600,  /* runs not yet ended, above which the producer rests */
    TIMES_FOREVER = 99, /* more than any policy allows */
};

static volatile sig_atomic_t is_stopping;

struct producer {
    const char *url, *folder;
    struct dice dice;
    long rate;
    bool is_wild; /* handlers run in processes of their own, and may break them */
    culex_client *client;
};

static void stop(int number)
{
    (void)number;
    is_stopping = 1;
}

static void rest(int64_t length_ms)
{
    const struct timespec length = {length_ms / 1000, length_ms % 1000 * 1000000};
    nanosleep(&length, NULL);
}

/* Worth repeating: the store was away, slow or full. */
static bool is_passing(culex_status status)
{
    return status != CULEX_EINVAL && status != CULEX_ECONFLICT && status != CULEX_EEXPIRED &&
           status != CULEX_EENCODE && status != CULEX_ECORRUPT && status != CULEX_EVERSION;
}

static void store_open(struct producer *producer)
{
    const culex_client_options options = {.timeout_ms = TIMEOUT_MS};
    culex_error error = {0};
    for (int i = 0; i < TRIES_MAX; i++) {
        culex_status status = culex_client_open(producer->url, &options, &producer->client, &error);
        if (status == CULEX_OK)
            return;
        if (!is_passing(status))
            break;
        rest(5);
    }
    fprintf(stderr, "storm_producer: %s\n", error.text);
    exit(1);
}

static culex_uuid id_new(struct producer *producer)
{
    culex_uuid id;
    culex_error error = {0};
    for (int i = 0; i < TRIES_MAX; i++) {
        if (culex_client_new_id(producer->client, &id, &error) == CULEX_OK)
            return id;
        rest(5);
    }
    fprintf(stderr, "storm_producer: no id: %s\n", error.text);
    exit(1);
}

/* What is to be enqueued. */
struct order {
    const culex_job_type *type;
    storm_plain_job plain;
    storm_deed_job deed;
    culex_enqueue_options options;
};

static const void *order_params(const struct order *order)
{
    return order->type == &storm_plain_job_type ? (const void *)&order->plain
                                                : (const void *)&order->deed;
}

static void order_mark(const struct producer *producer, const struct order *order, const char *verb)
{
    char id[CULEX_UUID_TEXT_SIZE];
    bool is_plain = order->type == &storm_plain_job_type;
    storm_act act =
        is_plain ? order->plain.length > 0 ? STORM_ACT_NAP : STORM_ACT_PLAIN : order->deed.act;
    culex_uuid_format(order->options.id, id);
    if (strcmp(verb, "intend") == 0)
        ledger_write(producer->folder, LEDGER_PRODUCERS, "intend %s %s %s %u", id,
                     is_plain ? "plain" : "deed", storm_act_name(act),
                     is_plain ? 0 : order->deed.times);
    else
        ledger_write(producer->folder, LEDGER_PRODUCERS, "%s %s", verb, id);
}

/* Until the store says yes. */
static void order_send(struct producer *producer, const struct order *order)
{
    culex_error error = {0};
    for (int i = 0; i < TRIES_MAX; i++) {
        culex_status status = culex_client_enqueue(
            producer->client, order->type, order_params(order), &order->options, NULL, &error);
        if (status == CULEX_OK) {
            order_mark(producer, order, "acked");
            return;
        }
        if (!is_passing(status))
            break;
        rest(5);
    }
    order_mark(producer, order, "refused");
    fprintf(stderr, "storm_producer: refused: %s\n", error.text);
    exit(1);
}

static void plain_options(struct producer *producer, culex_enqueue_options *ret_options)
{
    *ret_options = culex_enqueue_options_make();
    if (dice_roll(&producer->dice, 3) == 0)
        ret_options->queue = "calm2";
    if (dice_roll(&producer->dice, 4) == 0) {
        ret_options->has_priority = true;
        ret_options->priority = (int)dice_roll(&producer->dice, 10);
    }
    if (dice_roll(&producer->dice, 6) == 0) {
        ret_options->has_delay = true;
        ret_options->delay = dice_roll(&producer->dice, 500) * CULEX_MILLISECOND;
    }
}

/* Mostly instant; some sleep for long enough to need heartbeats. */
static storm_plain_job plain_make(struct producer *producer)
{
    storm_plain_job job = storm_plain_job_make();
    uint32_t chance = dice_roll(&producer->dice, 100);
    if (chance < 10)
        job.length = (1 + dice_roll(&producer->dice, 30)) * CULEX_MILLISECOND;
    else if (chance < 12)
        job.length = (100 + dice_roll(&producer->dice, 400)) * CULEX_MILLISECOND;
    return job;
}

static storm_deed_job deed_make(struct producer *producer)
{
    struct dice *dice = &producer->dice;
    uint32_t chance = dice_roll(dice, 100);
    uint32_t times = dice_roll(dice, 4) == 0 ? TIMES_FOREVER : 1 + dice_roll(dice, 2);
    if (producer->is_wild && chance < 20)
        return storm_deed_job_make(STORM_ACT_CRASH, times);
    if (producer->is_wild && chance < 30)
        return storm_deed_job_make(STORM_ACT_EXIT, times);
    if (producer->is_wild && chance < 32)
        return storm_deed_job_make(STORM_ACT_STUBBORN, 1);
    if (producer->is_wild && chance < 34)
        return storm_deed_job_make(STORM_ACT_FORK, 1);
    if (producer->is_wild && chance < 38) /* what it makes is alive when a worker is killed */
        return storm_deed_job_make(STORM_ACT_HERD, 1);
    if (chance < 70)
        return storm_deed_job_make(STORM_ACT_FAIL, times);
    if (chance < 85)
        return storm_deed_job_make(STORM_ACT_DISCARD, 1);
    if (chance < 97)
        return storm_deed_job_make(STORM_ACT_SNOOZE, 1 + dice_roll(dice, 2));
    return storm_deed_job_make(STORM_ACT_EXTEND, 1);
}

static size_t single_send(struct producer *producer)
{
    struct order order = {.type = &storm_plain_job_type, .options = culex_enqueue_options_make()};
    if (dice_roll(&producer->dice, 5) == 0) {
        order.type = &storm_deed_job_type;
        order.deed = deed_make(producer);
    } else {
        order.plain = plain_make(producer);
        plain_options(producer, &order.options);
    }
    order.options.has_id = true;
    order.options.id = id_new(producer);
    order_mark(producer, &order, "intend");
    order_send(producer, &order);
    return 1;
}

/* A failed call is repeated run by run, with the ids that it made. */
static void batch_repeat(struct producer *producer, const storm_plain_job *job,
                         const culex_enqueue_options *options, culex_uuid id)
{
    struct order order = {.type = &storm_plain_job_type, .plain = *job, .options = *options};
    order.options.has_id = true;
    order.options.id = id;
    order_send(producer, &order);
}

static size_t batch_send(struct producer *producer)
{
    storm_plain_job jobs[BATCH_MAX];
    culex_uuid ids[BATCH_MAX];
    culex_enqueue_options options;
    size_t count = 2 + dice_roll(&producer->dice, BATCH_MAX - 1), enqueued = 0;
    for (size_t i = 0; i < count; i++)
        jobs[i] = storm_plain_job_make();
    plain_options(producer, &options);
    ledger_write(producer->folder, LEDGER_PRODUCERS, "batch %zu", count);
    memset(ids, 0, sizeof ids);
    culex_status status =
        storm_plain_job_enqueue_many(producer->client, jobs, count, &options, ids, &enqueued, NULL);
    for (size_t i = 0; i < count; i++) {
        struct order order = {.type = &storm_plain_job_type};
        order.options.id = ids[i];
        if (status == CULEX_OK || i < enqueued)
            order_mark(producer, &order, "acked");
        else
            batch_repeat(producer, &jobs[i], &options, ids[i]);
    }
    return count;
}

/* Runs not yet ended in `queue`; 0 when the store does not say. */
static uint64_t backlog(struct producer *producer, const char *queue)
{
    culex_queue_stats stats;
    if (culex_client_stats(producer->client, queue, &stats, NULL) != CULEX_OK)
        return 0;
    return stats.count[CULEX_RUN_WAITING] + stats.count[CULEX_RUN_SCHEDULED] +
           stats.count[CULEX_RUN_ACTIVE];
}

static bool is_ahead(struct producer *producer)
{
    return backlog(producer, "calm") + backlog(producer, "calm2") > BACKLOG_MAX ||
           backlog(producer, "wild") > BACKLOG_MAX / 10;
}

static void produce(struct producer *producer)
{
    size_t since_look = LOOK_EVERY;
    while (!is_stopping) {
        if (since_look >= LOOK_EVERY && is_ahead(producer)) {
            rest(50);
            continue;
        }
        since_look = since_look >= LOOK_EVERY ? 0 : since_look;
        size_t count =
            dice_roll(&producer->dice, 12) == 0 ? batch_send(producer) : single_send(producer);
        since_look += count;
        rest(1000 * (int64_t)count / producer->rate);
    }
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fputs("usage: storm_producer URL FOLDER SEED RUNS-A-SECOND none|process|job\n", stderr);
        return 2;
    }
    struct producer producer = {.url = argv[1],
                                .folder = argv[2],
                                .dice = {strtoull(argv[3], NULL, 10)},
                                .rate = strtol(argv[4], NULL, 10),
                                .is_wild = strcmp(argv[5], "none") != 0};
    const struct sigaction action = {.sa_handler = stop};
    sigaction(SIGTERM, &action, NULL);
    if (producer.rate < 1)
        return 2;
    store_open(&producer);
    produce(&producer);
    culex_client_close(producer.client);
    return 0;
}
