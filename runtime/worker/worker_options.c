/* worker/worker_options.c - what the options of a worker may be, and what they are by default. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/secret_name.h"
#include "base/utf8.h"
#include "core/offer.h"
#include "core/queue_item.h"
#include "log/log.h"
#include "platform/listening.h"
#include "settings/option.h"
#include "settings/storesettings.h"
#include "worker/identity.h"
#include "worker/spans.h"
#include "worker/worker_options.h"

enum {
    LEASE_MS = 15000,
    GRACE_MS = 25000,
    IDLE_WAIT_MS = 100,
    ON_DEATH_MS = 30000,
};

/* Hex digits alone are the id of a container, which many are called by. */
static bool name_is_secret(const char *name, size_t len)
{
    return strspn(name, "0123456789abcdef") < len && culex__text_is_secret(name);
}

/* It goes into logs and into the error texts of runs, and a second worker of that name gets a
 * longer one. */
static culex_status name_check(const culex_worker_options *options, culex_error *error)
{
    const char *name = options->name == NULL ? "" : options->name;
    size_t len = strnlen(name, CULEX_WORKER_NAME_MAX + 1);
    bool is_plain = len <= CULEX_WORKER_NAME_MAX;
    for (size_t at = 0, size; is_plain && at < len; at += size) {
        size = culex__utf8_char(name + at, len - at);
        is_plain = size > 0 && !culex__utf8_is_deceptive(culex__utf8_code(name + at, size));
    }
    if (!is_plain)
        return culex__fail(error, CULEX_EUSAGE,
                           "the name of a worker has at most %d bytes, of UTF-8 and without "
                           "control characters",
                           CULEX_WORKER_NAME_MAX);
    if (name_is_secret(name, len))
        return culex__fail(
            error, CULEX_EUSAGE,
            "what is given as the name of the worker looks like a key or a URL with "
            "a password, and is not shown: its name stands in logs and in the store");
    return CULEX_OK;
}

static culex_status counts_check(const culex_worker_options *options, culex_error *error)
{
    if (options->concurrency > CULEX_OPTION_CONCURRENCY_MAX)
        return culex__fail(error, CULEX_EUSAGE, "concurrency is 1 to %d",
                           CULEX_OPTION_CONCURRENCY_MAX);
    if (options->batch > CULEX_BATCH_MAX)
        return culex__fail(error, CULEX_EUSAGE, "batch is 1 to %d", CULEX_BATCH_MAX);
    return CULEX_OK;
}

/* 0 is the default; a grace of -1 is none. */
static culex_status spans_check(const culex_worker_options *options, culex_error *error)
{
    int most = (int)CULEX_OPTION_SPAN_MS_MAX;
    if (options->lease_ms != 0 &&
        (options->lease_ms < CULEX_OPTION_LEASE_MS_MIN || options->lease_ms > most))
        return culex__fail(error, CULEX_EUSAGE, "lease is %d ms to %d ms",
                           CULEX_OPTION_LEASE_MS_MIN, most);
    if (options->grace_ms < -1 || options->grace_ms > most)
        return culex__fail(error, CULEX_EUSAGE, "grace is at most %d ms", most);
    if (options->idle_wait_ms < 0 || options->idle_wait_ms > most)
        return culex__fail(error, CULEX_EUSAGE, "idle_wait is at most %d ms", most);
    if (options->on_death_timeout_ms < 0 || options->on_death_timeout_ms > most)
        return culex__fail(error, CULEX_EUSAGE, "on_death_timeout is at most %d ms", most);
    return CULEX_OK;
}

static culex_status store_check(const culex_worker_options *options, culex_error *error)
{
    if (options->url != NULL && options->url_file != NULL)
        return culex__fail(error, CULEX_EUSAGE, "both a URL and a URL file are given; use one");
    return culex__store_timeout_check("store_timeout_ms", options->store_timeout_ms, CULEX_EUSAGE,
                                      error);
}

static culex_status log_check(const culex_worker_options *options, culex_error *error)
{
    if (options->log_level < 0 || options->log_level > CULEX_LOG_DEBUG ||
        (options->log_format != CULEX_LOG_TEXT && options->log_format != CULEX_LOG_JSON))
        return culex__fail(error, CULEX_EUSAGE, "no such log level or format");
    return CULEX_OK;
}

static culex_status queues_check(const culex_worker_options *options, culex_error *error)
{
    if (options->queues == NULL && options->queue_count > 0)
        return culex__fail(error, CULEX_EUSAGE, "a queue_count of %zu, and no queues",
                           options->queue_count);
    if (options->queues != NULL && options->queue_count == 0)
        return culex__fail(
            error, CULEX_EUSAGE,
            "queues, and a queue_count of 0, with which all would be served: say how "
            "many there are");
    return culex__queue_items_check(options->queues, options->queue_count, error);
}

static culex_status queue_option_check(const culex_queue_options *row, culex_error *error)
{
    if (row->queue == NULL)
        return culex__fail(error, CULEX_EUSAGE, "options of a queue without its name");
    culex_status status = culex__queue_pattern_check(row->queue, error);
    if (status != CULEX_OK)
        return status;
    if (row->weight > CULEX_WEIGHT_MAX)
        return culex__fail(error, CULEX_EUSAGE, "queue '%s': a weight is 1 to %d",
                           culex__text_shown(row->queue), CULEX_WEIGHT_MAX);
    if (row->concurrency > CULEX_QUEUE_MOST_MAX)
        return culex__fail(error, CULEX_EUSAGE, "queue '%s': concurrency is 1 to %d",
                           culex__text_shown(row->queue), CULEX_QUEUE_MOST_MAX);
    return CULEX_OK;
}

static culex_status queue_options_check(const culex_worker_options *options, culex_error *error)
{
    const culex_queue_options *rows = options->queue_options;
    culex_status status = CULEX_OK;
    if (rows == NULL && options->queue_option_count > 0)
        return culex__fail(error, CULEX_EUSAGE, "a queue_option_count of %zu, and no options",
                           options->queue_option_count);
    for (size_t i = 0; i < options->queue_option_count && status == CULEX_OK; i++) {
        status = queue_option_check(&rows[i], error);
        for (size_t k = 0; k < i && status == CULEX_OK; k++) {
            if (strcmp(rows[k].queue, rows[i].queue) == 0)
                status = culex__fail(error, CULEX_EUSAGE, "queue '%s' has options twice",
                                     culex__text_shown(rows[i].queue));
        }
    }
    return status;
}

/* The first queue that has a weight; NULL for none. It is in *item, or borrowed. */
static const char *weight_find(const culex_worker_options *options, struct culex_queue_item *item)
{
    for (size_t i = 0; i < options->queue_count; i++) {
        if (culex__queue_item_read(options->queues[i], item, NULL) == CULEX_OK && item->has_weight)
            return item->name;
    }
    for (size_t i = 0; i < options->queue_option_count; i++) {
        if (options->queue_options[i].weight > 0)
            return options->queue_options[i].queue;
    }
    return NULL;
}

static culex_status order_check(const culex_worker_options *options, culex_error *error)
{
    struct culex_queue_item item;
    if (options->order < CULEX_ORDER_DEFAULT || options->order > CULEX_ORDER_WEIGHTED)
        return culex__fail(error, CULEX_EUSAGE, "no such order");
    bool is_weighted =
        options->order == CULEX_ORDER_DEFAULT || options->order == CULEX_ORDER_WEIGHTED;
    const char *weighted = weight_find(options, &item);
    if (is_weighted || weighted == NULL)
        return CULEX_OK;
    return culex__fail(error, CULEX_EUSAGE,
                       "queue '%s' has a weight, which means nothing in this order: leave it out, "
                       "or let the order be weighted",
                       culex__text_shown(weighted));
}

static culex_status offers_check(const culex_worker_options *options, culex_error *error)
{
    struct culex_needs offers = {.count = 0};
    culex_status status = CULEX_OK;
    if (options->offers == NULL && options->offer_count > 0)
        return culex__fail(error, CULEX_EUSAGE, "an offer_count of %zu, and no offers",
                           options->offer_count);
    for (size_t i = 0; i < options->offer_count && status == CULEX_OK; i++)
        status = culex__offer_add(&offers, options->offers[i], error);
    return status;
}

/* DEFAULT for no such word. */
static culex_isolation isolation_parse(const char *word)
{
    static const char *const words[] = {"none", "process", "job"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(word, words[i]) == 0)
            return (culex_isolation)(CULEX_ISOLATION_NONE + i);
    }
    return CULEX_ISOLATION_DEFAULT;
}

static const char *isolation_wanted(void)
{
    const char *wanted = getenv("CULEX_ISOLATION");
    return wanted == NULL ? "process" : wanted;
}

static culex_status isolation_check(const culex_worker_options *options, culex_error *error)
{
    culex_isolation isolation = options->isolation;
    if ((int)isolation < CULEX_ISOLATION_DEFAULT || isolation > CULEX_ISOLATION_JOB)
        return culex__fail(error, CULEX_EUSAGE, "no such isolation");
    if (isolation == CULEX_ISOLATION_DEFAULT &&
        isolation_parse(isolation_wanted()) == CULEX_ISOLATION_DEFAULT)
        return culex__fail(error, CULEX_EUSAGE,
                           "CULEX_ISOLATION: '%s' is not one of: none, process, job",
                           culex__text_shown(isolation_wanted()));
    return CULEX_OK;
}

static culex_status cgroup_check(const culex_worker_options *options, culex_error *error)
{
    culex_isolation isolation = options->isolation;
    if (isolation == CULEX_ISOLATION_DEFAULT)
        isolation = isolation_parse(isolation_wanted());
    if (options->cgroup != NULL && isolation == CULEX_ISOLATION_NONE)
        return culex__fail(error, CULEX_EUSAGE,
                           "cgroup bounds child processes, and with isolation none there are none; "
                           "leave one of them out");
    return CULEX_OK;
}

static culex_status metrics_check(const culex_worker_options *options, culex_error *error)
{
    culex_status status =
        options->metrics != NULL ? culex__listening_check(options->metrics, error) : CULEX_OK;
    if (status != CULEX_OK)
        culex__error_context(error, "metrics");
    return status;
}

culex_status culex__worker_options_check(const culex_worker_options *options, culex_error *error)
{
    static culex_status (*const checks[])(const culex_worker_options *, culex_error *) = {
        counts_check,        spans_check,   store_check,        log_check,  queues_check,
        queue_options_check, order_check,   offers_check,       name_check, isolation_check,
        cgroup_check,        metrics_check, culex__spans_check,
    };
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < sizeof checks / sizeof checks[0] && status == CULEX_OK; i++)
        status = checks[i](options, error);
    return status;
}

static unsigned processor_count(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    if (count < 1)
        return 1;
    return count < CULEX_OPTION_CONCURRENCY_MAX ? (unsigned)count : CULEX_OPTION_CONCURRENCY_MAX;
}

void culex__worker_options_complete(culex_worker_options *options)
{
    struct culex_queue_item item;
    if (options->isolation == CULEX_ISOLATION_DEFAULT)
        options->isolation = isolation_parse(isolation_wanted());
    if (options->concurrency == 0)
        options->concurrency = processor_count();
    if (options->lease_ms == 0)
        options->lease_ms = LEASE_MS;
    if (options->grace_ms == 0)
        options->grace_ms = GRACE_MS;
    if (options->idle_wait_ms == 0)
        options->idle_wait_ms = IDLE_WAIT_MS;
    if (options->on_death_timeout_ms == 0)
        options->on_death_timeout_ms = ON_DEATH_MS;
    if (options->order == CULEX_ORDER_DEFAULT)
        options->order =
            weight_find(options, &item) != NULL ? CULEX_ORDER_WEIGHTED : CULEX_ORDER_TURNS;
    if (options->log_level == 0)
        options->log_level = CULEX_LOG_INFO;
}
