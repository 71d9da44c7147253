/* client/enqueue_all.c - several jobs and queues in one call.
 *
 * First all runs are made, and kept in an arena; then those of each queue are sent as one call. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "client/client_private.h"
#include "client/enqueue.h"
#include "client/newrun.h"
#include "client/publishing.h"

/* An item that is to be sent. */
struct member {
    culex_enqueue_item *item;
    const char *queue;
    size_t part; /* which of the queues it is, as they are met first */
    struct culex_new_run run;
};

struct convocation {
    culex_client *client;
    culex_arena *arena; /* what the members borrow */
    struct member *members;
    size_t count, parts;
};

/* What one queue is sent. */
struct part {
    struct culex_new_run runs[CULEX_ENQUEUE_BATCH_MAX];
    struct member *members[CULEX_ENQUEUE_BATCH_MAX], *first;
    culex_uuid ids[CULEX_ENQUEUE_BATCH_MAX];
    culex_enqueue_outcome outcomes[CULEX_ENQUEUE_BATCH_MAX];
    size_t count;
};

/* More params than one call carries. */
enum { PART_BYTES = 2 * 1024 * 1024 };

/* --- making ---------------------------------------------------------------------------------- */

static const void *copy(culex_arena *arena, const void *bytes, size_t len)
{
    char *to = culex__arena_bytes(arena, len + 1);
    if (to != NULL && len > 0)
        memcpy(to, bytes, len);
    if (to != NULL)
        to[len] = '\0';
    return to;
}

static bool text_keep(culex_arena *arena, const char **text)
{
    if (*text != NULL)
        *text = copy(arena, *text, strlen(*text));
    else
        return true;
    return *text != NULL;
}

static bool limits_keep(culex_arena *arena, struct culex_new_run *run)
{
    if (run->limit_count == 0)
        return true;
    size_t size = run->limit_count * sizeof *run->limits;
    struct culex_run_limit *limits = culex_arena_alloc(arena, size);
    if (limits == NULL)
        return false;
    memcpy(limits, run->limits, size);
    for (size_t i = 0; i < run->limit_count; i++) {
        if (!text_keep(arena, &limits[i].name) || !text_keep(arena, &limits[i].key))
            return false;
    }
    run->limits = limits;
    return true;
}

struct keeping {
    culex_arena *arena;
    struct member *member;
};

static culex_status run_keep(void *user, const char *queue, const struct culex_new_run *run,
                             culex_error *error)
{
    struct keeping *keeping = user;
    struct member *member = keeping->member;
    culex_arena *arena = keeping->arena;
    member->queue = queue;
    member->run = *run;
    member->run.payload = copy(arena, run->payload, run->payload_len);
    if (member->run.payload != NULL && text_keep(arena, &member->queue) &&
        text_keep(arena, &member->run.job) && text_keep(arena, &member->run.unique_key) &&
        text_keep(arena, &member->run.idempotency_key) && text_keep(arena, &member->run.tags) &&
        limits_keep(arena, &member->run))
        return CULEX_OK;
    return culex__fail(error, CULEX_ENOMEM, "no memory for a run");
}

static void part_find(struct convocation *all, struct member *member)
{
    for (size_t i = 0; i < all->count; i++) {
        if (strcmp(all->members[i].queue, member->queue) == 0) {
            member->part = all->members[i].part;
            return;
        }
    }
    member->part = all->parts++;
}

static culex_status members_make(struct convocation *all, culex_enqueue_item *items, size_t count,
                                 culex_error *error)
{
    const struct culex_enqueue_way way = {
        .gate = &all->client->gate,
        .keys = all->client->keys,
        .env = all->client->env,
        .refusal = "an item takes no ticket and no ret_outcomes: its id and outcome tell, and a "
                   "call that is CULEX_EUNKNOWN is repeated with the same items",
        .batch_refusal = "an item is in no batch, and waits for no other run: enqueue what does, "
                         "job by job"};
    for (size_t i = 0; i < count; i++) {
        struct keeping keeping = {all->arena, &all->members[all->count]};
        if (items[i].is_enqueued)
            continue;
        keeping.member->item = &items[i];
        culex_status status = culex__enqueue_make(&way, items[i].type, items[i].params,
                                                  items[i].options, run_keep, &keeping, error);
        if (status != CULEX_OK) {
            culex__error_context(error, "item %zu", i);
            return status;
        }
        part_find(all, keeping.member);
        all->count++;
    }
    return CULEX_OK;
}

/* --- sending ---------------------------------------------------------------------------------- */

static uint64_t place_of(const char *queue)
{
    return culex__content_hash(queue, "", 0);
}

/* Whether keys tell by themselves what became of each run, in however many calls. */
static bool part_is_keyed(const struct part *part)
{
    for (size_t i = 0; i < part->count; i++) {
        if (!culex__run_is_keyed(&part->runs[i]))
            return false;
    }
    return true;
}

/* Whether all that is unknown of it is of one call to this queue, and nothing else is there. */
static culex_status part_check(const struct part *part, culex_error *error)
{
    const culex_enqueue_item *first = part->first->item;
    for (size_t i = 0; i < part->count; i++) {
        const culex_enqueue_item *item = part->members[i]->item;
        if (item->is_unknown && item->place != place_of(part->first->queue))
            return culex__fail(error, CULEX_EINVAL,
                               "the call that was CULEX_EUNKNOWN went to another queue than '%s': "
                               "repeat it as it was",
                               part->first->queue);
    }
    if (part_is_keyed(part))
        return CULEX_OK;
    for (size_t i = 1; i < part->count; i++) {
        const culex_enqueue_item *item = part->members[i]->item;
        if (item->is_unknown != first->is_unknown ||
            (item->is_unknown && memcmp(&item->id, &first->id, sizeof item->id) != 0))
            return culex__fail(error, CULEX_EINVAL,
                               "queue '%s': after CULEX_EUNKNOWN the call is repeated with the "
                               "same items, and others take a call of their own",
                               part->first->queue);
    }
    return CULEX_OK;
}

/* Fails for more than goes into one call. */
static culex_status part_gather(const struct convocation *all, size_t number, struct part *ret_part,
                                culex_error *error)
{
    size_t bytes = 0;
    ret_part->count = 0;
    ret_part->first = NULL;
    for (size_t i = 0; i < all->count; i++) {
        struct member *member = &all->members[i];
        if (member->part != number)
            continue;
        if (ret_part->first == NULL)
            ret_part->first = member;
        bytes += member->run.payload_len;
        if (ret_part->count == CULEX_ENQUEUE_BATCH_MAX || bytes > PART_BYTES)
            return culex__fail(error, CULEX_ELIMIT,
                               "queue '%s': at most %d runs with %d MiB of params come together",
                               member->queue, CULEX_ENQUEUE_BATCH_MAX, PART_BYTES >> 20);
        ret_part->members[ret_part->count] = member;
        ret_part->runs[ret_part->count++] = member->run;
    }
    assert(ret_part->first != NULL); /* a part begins with a member */
    for (size_t i = 0; i < ret_part->count; i++)
        ret_part->runs[i].is_bound = ret_part->count > 1;
    return part_check(ret_part, error);
}

static void part_tell(const struct part *part, culex_status status)
{
    for (size_t i = 0; i < part->count; i++) {
        culex_enqueue_item *item = part->members[i]->item;
        bool was_unknown = item->is_unknown;
        item->is_enqueued = status == CULEX_OK;
        item->is_unknown = status == CULEX_EUNKNOWN || (was_unknown && status != CULEX_OK);
        if (status == CULEX_OK)
            item->outcome = part->outcomes[i];
        if (status == CULEX_OK)
            item->id = part->ids[i];
        else if (status == CULEX_EUNKNOWN)
            item->id = part->ids[0];
        item->place = item->is_unknown ? place_of(part->first->queue) : 0;
    }
}

static culex_status part_send(const struct convocation *all, struct part *part, culex_error *error)
{
    const culex_enqueue_item *first = part->first->item;
    const struct culex_enqueue_made made = {.client = all->client,
                                            .queue = part->first->queue,
                                            .runs = part->runs,
                                            .count = part->count,
                                            .has_ticket = first->is_unknown && !part_is_keyed(part),
                                            .ticket = first->id,
                                            .ids = part->ids,
                                            .outcomes = part->outcomes};
    culex_status status = culex__client_enqueue_made(&made, error);
    if (status != CULEX_OK)
        culex__error_context(error, "queue '%s'", made.queue);
    part_tell(part, status);
    for (size_t i = 0; i < all->count && status == CULEX_OK; i++) {
        const struct member *member = &all->members[i];
        if (member->part == part->first->part && member->item->outcome != CULEX_ENQUEUE_SPOOLED)
            culex__publishing_note(all->client, member->item->type, member->queue);
    }
    return status;
}

/* Nothing is sent before every part is known to fit. */
static culex_status parts_send(const struct convocation *all, struct part *part, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < all->parts && status == CULEX_OK; i++)
        status = part_gather(all, i, part, error);
    for (size_t i = 0; i < all->parts && status == CULEX_OK; i++) {
        status = part_gather(all, i, part, error);
        if (status == CULEX_OK)
            status = part_send(all, part, error);
    }
    return status;
}

static culex_status all_send(struct convocation *all, culex_enqueue_item *items, size_t count,
                             struct part *part, culex_error *error)
{
    culex_status status = members_make(all, items, count, error);
    return status == CULEX_OK ? parts_send(all, part, error) : status;
}

culex_status culex_client_enqueue_all(culex_client *client, culex_enqueue_item *items, size_t count,
                                      culex_error *error)
{
    if (client == NULL)
        return culex__fail(error, CULEX_EINVAL, "no client");
    if (items == NULL && count > 0)
        return culex__fail(error, CULEX_EINVAL, "no items");
    if (count == 0)
        return CULEX_OK;
    culex_status status;
    struct convocation all = {.client = client,
                              .arena = culex_arena_create(),
                              .members = calloc(count, sizeof *all.members)};
    struct part *part = malloc(sizeof *part);
    if (all.arena == NULL || all.members == NULL || part == NULL)
        status = culex__fail(error, CULEX_ENOMEM, "no memory for %zu runs", count);
    else
        status = all_send(&all, items, count, part, error);
    free(part);
    free(all.members);
    culex_arena_free(all.arena);
    return status;
}
