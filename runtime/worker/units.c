#include "worker/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "client/newrun.h"
#include "core/offer.h"
#include "worker/flight.h"
#include "worker/outlook.h"
#include "worker/worker_private.h"

/* --- begin and end -------------------------------------------------------------------------- */

static void needs_of(const culex_job_type *type, struct culex_needs *ret_needs)
{
    ret_needs->count = 0;
    for (size_t i = 0; i < type->need_count; i++)
        culex__needs_add(ret_needs, type->needs[i].name, strlen(type->needs[i].name),
                         type->needs[i].units);
}

bool culex__units_serve(const culex_worker *worker, const culex_job_type *type)
{
    struct culex_needs needs;
    needs_of(type, &needs);
    return culex__needs_fit(&needs, &worker->units.offers);
}

static void never_tell(const culex_worker *worker, const culex_job_type *type,
                       const struct culex_needs *needs)
{
    char needs_text[CULEX__NEEDS_SIZE], offers_text[CULEX__NEEDS_SIZE];
    const struct culex_log_subject subject = {.job = type->name, .queue = culex__job_queue(type)};
    culex__needs_write(needs, needs_text);
    culex__needs_write(&worker->units.offers, offers_text);
    culex__log_write(&worker->log, CULEX_LOG_WARNING, &subject,
                     "job %s needs %s, and this worker offers %s: it will never run it; begin one "
                     "with --offer",
                     type->name, needs_text, offers_text[0] != '\0' ? offers_text : "nothing");
}

/* "QUEUE NEEDS"; NULL when memory is out. */
static char *bell_make(const culex_job_type *type, const struct culex_needs *needs)
{
    char text[CULEX__NEEDS_SIZE];
    const char *queue = culex__job_queue(type);
    culex__needs_write(needs, text);
    size_t size = strlen(queue) + strlen(text) + 2;
    char *bell = malloc(size);
    if (bell != NULL)
        snprintf(bell, size, "%s %s", queue, text);
    return bell;
}

static bool bell_add(struct culex_units *units, char *bell)
{
    bool is_there = false;
    for (size_t i = 0; i < units->bell_count && bell != NULL && !is_there; i++)
        is_there = strcmp(units->bells[i], bell) == 0;
    if (is_there)
        free(bell);
    else if (bell != NULL)
        units->bells[units->bell_count++] = bell;
    return bell != NULL;
}

bool culex__units_begin(culex_worker *worker)
{
    struct culex_units *units = &worker->units;
    struct culex_needs needs;
    units->offers.count = 0;
    for (size_t i = 0; i < worker->options.offer_count; i++)
        (void)!culex__offer_add(&units->offers, worker->options.offers[i], NULL); /* were checked */
    units->free = units->offers;
    memset(units->in_use, 0, sizeof units->in_use);
    units->awaited = 0;
    units->bells = calloc(worker->job_count + 1, sizeof *units->bells);
    bool has_memory = units->bells != NULL;
    for (size_t i = 0; i < worker->job_count && has_memory; i++) {
        const culex_job_type *type = worker->jobs[i].type;
        needs_of(type, &needs);
        if (needs.count == 0)
            continue;
        if (culex__needs_fit(&needs, &units->offers))
            has_memory = bell_add(units, bell_make(type, &needs));
        else if (worker->jobs[i].call != NULL)
            never_tell(worker, type, &needs);
    }
    return has_memory;
}

void culex__units_end(culex_worker *worker)
{
    for (size_t i = 0; i < worker->units.bell_count; i++)
        free(worker->units.bells[i]);
    free(worker->units.bells);
    worker->units.bells = NULL;
    worker->units.bell_count = 0;
}

/* --- steps ---------------------------------------------------------------------------------- */

/* What it may have brought is granted still: its answer may yet come, or its leases go on. */
static bool is_promised(const struct culex_lane *lane, int64_t now_ns)
{
    const struct culex_lane_step *step = &lane->step;
    int64_t lease_ns = lane->worker->options.lease_ms * CULEX_MS_NS;
    bool is_held = step->may_be_applied && now_ns - step->sent_ns <= lease_ns;
    return step->is_pending && (lane->trouble.failures == 0 || is_held);
}

void culex__units_offer(const struct culex_lane *lane, int64_t now_ns,
                        char offers[CULEX__NEEDS_SIZE])
{
    const culex_worker *worker = lane->worker;
    struct culex_needs rest = worker->units.free, promised;
    if (is_promised(lane, now_ns))
        return;
    offers[0] = '\0';
    if (rest.count == 0 || lane->step.want == 0)
        return;
    for (size_t i = 0; i < worker->lane_count; i++) {
        const struct culex_lane *other = &worker->lanes[i];
        if (other != lane && is_promised(other, now_ns) &&
            culex__offers_read(other->step.offers, &promised))
            culex__needs_take(&promised, &rest);
    }
    culex__needs_write(&rest, offers);
}

void culex__units_take_reply(struct culex_lane *lane, uint32_t want,
                             const struct culex_step_reply *reply)
{
    if (want > 0)
        lane->units.is_short = reply->is_short;
}

/* --- runs ----------------------------------------------------------------------------------- */

/* None is free for as long as more are in use than are offered, whatever the store has granted. */
static void in_use_change(struct culex_units *units, const struct culex_units_held *held, int by)
{
    for (size_t k = 0; k < units->offers.count; k++) {
        uint32_t offered = units->offers.of[k].units;
        units->in_use[k] += by * (int64_t)held->of[k];
        units->free.of[k].units =
            units->in_use[k] < offered ? offered - (uint32_t)units->in_use[k] : 0;
    }
}

void culex__units_hold(struct culex_flight *flight, const char *text)
{
    struct culex_units *units = &flight->lane->worker->units;
    struct culex_units_held *held = &flight->units;
    struct culex_needs needs;
    if (text == NULL || !culex__needs_read(text, &needs))
        return;
    *held = (struct culex_units_held){.is_any = true};
    for (size_t i = 0; i < needs.count; i++) {
        for (size_t k = 0; k < units->offers.count; k++) {
            if (strcmp(needs.of[i].name, units->offers.of[k].name) == 0)
                held->of[k] = (uint16_t)needs.of[i].units;
        }
    }
    in_use_change(units, held, 1);
}

void culex__units_let_go(struct culex_flight *flight)
{
    culex_worker *worker = flight->lane->worker;
    struct culex_units_held *held = &flight->units;
    if (!held->is_any)
        return;
    in_use_change(&worker->units, held, -1);
    held->is_any = false;
    for (size_t i = 0; i < worker->lane_count; i++) {
        if (worker->lanes[i].units.is_short)
            culex__outlook_set_likely(&worker->lanes[i]);
    }
}

/* --- being told ----------------------------------------------------------------------------- */

/* Its queue is waited for, and what it needs is free. */
static bool bell_is_wanted(const culex_worker *worker, const char *bell)
{
    struct culex_needs needs;
    size_t len = strcspn(bell, " ");
    if (!culex__needs_read(bell + len + 1, &needs) ||
        !culex__needs_fit(&needs, &worker->units.free))
        return false;
    for (size_t i = 0; i < worker->lane_count; i++) {
        const struct culex_lane *lane = &worker->lanes[i];
        if (lane->is_awaited && strlen(lane->name) == len && memcmp(lane->name, bell, len) == 0)
            return true;
    }
    return false;
}

static uint64_t wanted_hash(const culex_worker *worker)
{
    uint64_t hash = 1;
    for (size_t i = 0; i < worker->units.bell_count; i++)
        hash = hash * 31 + 1 + bell_is_wanted(worker, worker->units.bells[i]);
    return hash;
}

size_t culex__units_await(culex_worker *worker, const char **names, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < worker->units.bell_count && count < most; i++) {
        if (bell_is_wanted(worker, worker->units.bells[i]))
            names[count++] = worker->units.bells[i];
    }
    worker->units.awaited = wanted_hash(worker);
    return count;
}

bool culex__units_are_awaited(const culex_worker *worker)
{
    return worker->units.bell_count == 0 || worker->units.awaited == wanted_hash(worker);
}
