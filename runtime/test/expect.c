/* test/expect.c - what macros claim of the runs in the store and of the calls. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/nearest.h"
#include "core/codec_decode.h"
#include "core/codec_encode.h"
#include "core/duration.h"
#include "test/failure.h"
#include "test/kit.h"
#include "test/params.h"
#include "test/pending.h"

enum { SHOWN_MAX = 5, SHOWN_SIZE = 400 };

/* --- params
 * ---------------------------------------------------------------------------------------- */

/* A run with its params, and its payload as it is written today. */
struct candidate {
    const culex_run_info *run;
    const void *params;
    culex_buf payload;
};

static bool candidate_read(culex_test *test, const culex_job_type *type,
                           const struct culex_pending_run *row, struct candidate *ret_candidate)
{
    culex_error error = {0};
    *ret_candidate = (struct candidate){0};
    culex_buf_init(&ret_candidate->payload, 0);
    const culex_run_info *run = culex__pending_read(test, row->queue, row->id);
    if (run == NULL)
        return false;
    ret_candidate->run = run;
    struct culex__sealing sealing =
        culex__sealing_make(&test->keys, &test->env, type, CULEX_SEALED_PARAMS);
    culex_status status =
        culex__decode_sealed(&sealing, type->params, test->arena, run->payload.data,
                             run->payload.len, &ret_candidate->params, &error);
    sealing.is_plain = true;
    if (status == CULEX_OK)
        status = culex__encode_sealed(&sealing, type->params, ret_candidate->params,
                                      &ret_candidate->payload, &error);
    if (status != CULEX_OK)
        return culex__test_fail(test, "the params of a run of %s cannot be read: %s%s%s",
                                type->name, error.field, error.field[0] != '\0' ? ": " : "",
                                error.text);
    return true;
}

/* Adds the first runs to the reason. It is read again: nothing of it is the reason by then. */
static void runs_show(culex_test *test, const culex_job_type *type,
                      const struct culex_pending *pending)
{
    char text[SHOWN_SIZE];
    for (size_t i = 0; i < pending->count && i < SHOWN_MAX; i++) {
        struct candidate candidate;
        if (candidate_read(test, type, &pending->rows[i], &candidate)) {
            culex__params_show(type, candidate.params, &candidate.payload, text, sizeof text);
            culex__test_add(test, "\n  in queue %s, %s: %s", candidate.run->queue,
                            culex_run_state_name(candidate.run->state), text);
        }
        culex_buf_release(&candidate.payload);
    }
    if (pending->count > SHOWN_MAX)
        culex__test_add(test, "\n  and %zu more", pending->count - SHOWN_MAX);
}

/* --- one run
 * --------------------------------------------------------------------------------------- */

static bool type_check(culex_test *test, const culex_job_type *type)
{
    if (!culex__test_begin(test))
        return false;
    return type != NULL || culex__test_fail(test, "no job: NULL was given for its type");
}

static bool is_one(culex_test *test, const culex_job_type *type,
                   const struct culex_pending *pending)
{
    if (pending->count == 1)
        return true;
    culex__test_fail(test, "expected one pending run of %s, found %zu", type->name, pending->count);
    if (pending->count == 0)
        culex__pending_tell(test);
    else
        runs_show(test, type, pending);
    return false;
}

/* Of the one pending run. */
static bool one_read(culex_test *test, const culex_job_type *type, struct candidate *ret_candidate)
{
    struct culex_pending pending = {0};
    bool is_found = type_check(test, type) && culex__pending_find(test, type, &pending) &&
                    is_one(test, type, &pending) &&
                    candidate_read(test, type, &pending.rows[0], ret_candidate);
    culex__pending_free(&pending);
    return is_found;
}

const culex_run_info *culex_test_run(culex_test *test, const culex_job_type *type)
{
    struct candidate candidate = {0};
    bool is_found = one_read(test, type, &candidate);
    culex_buf_release(&candidate.payload);
    return is_found ? candidate.run : NULL;
}

const void *culex_test_one(culex_test *test, const culex_job_type *type)
{
    struct candidate candidate = {0};
    bool is_found = one_read(test, type, &candidate);
    culex_buf_release(&candidate.payload);
    return is_found ? candidate.params : NULL;
}

/* --- the one with these params
 * ------------------------------------------------------------------------ */

enum { PAIRS_MAX = 32 };

struct pair {
    const culex_field *field;
    const char *text;
};

struct pairs {
    size_t count;
    struct pair of[PAIRS_MAX];
};

static bool pair_add(culex_test *test, const culex_job_type *type, const char *name,
                     const char *text, struct pairs *pairs)
{
    struct culex__nearest nearest = {.word = name};
    const culex_field *field = culex__params_field(type, name);
    char ask[128];
    if (field != NULL && text != NULL && pairs->count < PAIRS_MAX) {
        pairs->of[pairs->count++] = (struct pair){field, text};
        return true;
    }
    if (field != NULL)
        return culex__test_fail(test,
                                text == NULL ? "param %s of %s is named without a text"
                                             : "param %s of %s is one too many",
                                name, type->name);
    for (size_t i = 0; i < type->params->field_count; i++)
        culex__nearest_offer(&nearest, type->params->fields[i].name);
    return culex__test_fail(test, "%s has no param %s%s", type->name, name,
                            culex__nearest_ask(&nearest, ask));
}

static bool pairs_read(culex_test *test, const culex_job_type *type, const char *const *list,
                       struct pairs *ret_pairs)
{
    ret_pairs->count = 0;
    for (; list != NULL && list[0] != NULL; list += 2) {
        if (!pair_add(test, type, list[0], list[1], ret_pairs))
            return false;
    }
    return true;
}

static bool candidate_meets(const struct candidate *candidate, const struct pairs *pairs)
{
    bool meets = true;
    for (size_t i = 0; i < pairs->count && meets; i++)
        meets = culex__params_say(&candidate->payload, pairs->of[i].field, pairs->of[i].text);
    return meets;
}

static void pairs_tell(culex_test *test, const culex_job_type *type, const struct pairs *pairs,
                       size_t met, const struct culex_pending *pending)
{
    culex__test_fail(test, "expected one pending run of %s", type->name);
    for (size_t i = 0; i < pairs->count; i++)
        culex__test_add(test, "%s %s = %s", i == 0 ? " with" : ",", pairs->of[i].field->name,
                        (pairs->of[i].field->flags & CULEX_FIELD_SECRET) != 0 ? "[secret]"
                                                                              : pairs->of[i].text);
    culex__test_add(test, ", found %zu", met);
    if (pending->count == 0)
        culex__pending_tell(test);
    else
        runs_show(test, type, pending);
}

/* How many have these params; *ret_params are those of the last one. */
static bool candidates_count(culex_test *test, const culex_job_type *type,
                             const struct culex_pending *pending, const struct pairs *pairs,
                             size_t *ret_met, const void **ret_params)
{
    bool is_well = true;
    *ret_met = 0;
    for (size_t i = 0; i < pending->count && is_well; i++) {
        struct candidate candidate;
        is_well = candidate_read(test, type, &pending->rows[i], &candidate);
        if (is_well && candidate_meets(&candidate, pairs)) {
            *ret_params = candidate.params;
            ++*ret_met;
        }
        culex_buf_release(&candidate.payload);
    }
    return is_well;
}

static const void *pairs_find(culex_test *test, const culex_job_type *type,
                              const struct pairs *pairs)
{
    struct culex_pending pending = {0};
    const void *params = NULL;
    size_t met = 0;
    bool is_well = culex__pending_find(test, type, &pending) &&
                   candidates_count(test, type, &pending, pairs, &met, &params);
    if (is_well && met != 1)
        pairs_tell(test, type, pairs, met, &pending);
    culex__pending_free(&pending);
    return is_well && met == 1 ? params : NULL;
}

const void *culex_test_find(culex_test *test, const culex_job_type *type, const char *const *pairs)
{
    struct pairs wanted;
    if (!type_check(test, type) || !pairs_read(test, type, pairs, &wanted))
        return NULL;
    return pairs_find(test, type, &wanted);
}

/* --- claims
 * ------------------------------------------------------------------------------------------- */

size_t culex_test_pending(culex_test *test, const culex_job_type *type)
{
    struct culex_pending pending = {0};
    if (test == NULL)
        return 0;
    bool is_well = culex__pending_find(test, type, &pending);
    culex__pending_free(&pending);
    return is_well ? pending.count : 0;
}

bool culex_test_count_is(culex_test *test, const culex_job_type *type, size_t count)
{
    struct culex_pending pending = {0};
    if (!culex__test_begin(test))
        return false;
    bool is_read = culex__pending_find(test, type, &pending);
    bool holds = is_read && pending.count == count;
    if (is_read && !holds) {
        culex__test_fail(test, "expected %zu pending run%s of %s, found %zu", count,
                         count == 1 ? "" : "s", type != NULL ? type->name : "any job",
                         pending.count);
        if (type != NULL && pending.count > 0)
            runs_show(test, type, &pending);
        else
            culex__pending_tell(test);
    }
    culex__pending_free(&pending);
    return holds;
}

bool culex_test_queue_is(culex_test *test, const culex_job_type *type, const char *queue)
{
    const culex_run_info *run = culex_test_run(test, type);
    if (run == NULL || (queue != NULL && strcmp(run->queue, queue) == 0))
        return run != NULL;
    return culex__test_fail(test, "expected the run of %s in queue %s, it is in %s", type->name,
                            queue != NULL ? queue : "NULL", run->queue);
}

bool culex_test_priority_is(culex_test *test, const culex_job_type *type, int priority)
{
    const culex_run_info *run = culex_test_run(test, type);
    if (run == NULL || run->priority == priority)
        return run != NULL;
    return culex__test_fail(test, "expected the run of %s with priority %d, it has %d", type->name,
                            priority, run->priority);
}

bool culex_test_delay_is(culex_test *test, const culex_job_type *type, culex_duration delay)
{
    const culex_run_info *run = culex_test_run(test, type);
    if (run == NULL)
        return false;
    if (culex__duration_is_slip(delay))
        return culex__test_fail(test,
                                "a delay of %lld nanoseconds is too short to be meant: write "
                                "culex_seconds(%lld), or culex_milliseconds, _minutes, _hours, "
                                "_days",
                                (long long)delay, (long long)delay);
    int64_t wanted_ms = delay / CULEX_MS_NS;
    int64_t found_ms = run->state == CULEX_RUN_SCHEDULED ? run->at_ms - test->frozen.now_ms : 0;
    if (found_ms == wanted_ms)
        return true;
    return culex__test_fail(test,
                            "expected the run of %s in %" PRId64 " ms, it is due in %" PRId64 " ms",
                            type->name, wanted_ms, found_ms);
}

/* Tags stand with commas between them, and have none inside. */
static bool has_tag(const char *tags, const char *tag)
{
    size_t len = strlen(tag);
    for (const char *at = tags; len > 0 && (at = strstr(at, tag)) != NULL; at += len) {
        bool is_whole = (at == tags || at[-1] == ',') && (at[len] == ',' || at[len] == '\0');
        if (is_whole && strchr(tag, ',') == NULL)
            return true;
    }
    return false;
}

bool culex_test_tag_is(culex_test *test, const culex_job_type *type, const char *tag)
{
    const culex_run_info *run = culex_test_run(test, type);
    if (run == NULL || (tag != NULL && has_tag(run->tags, tag)))
        return run != NULL;
    return culex__test_fail(test, "expected the run of %s with the tag %s, it has %s", type->name,
                            tag != NULL ? tag : "NULL", run->tags[0] != '\0' ? run->tags : "none");
}

bool culex_test_state_is(culex_test *test, culex_uuid id, culex_run_state state)
{
    const culex_run_info *run = culex__test_begin(test) ? culex__run_seek(test, id) : NULL;
    if (run == NULL || run->state == state)
        return run != NULL;
    return culex__test_fail(test, "expected the run of %s %s, it is %s%s%s", run->job,
                            culex_run_state_name(state), culex_run_state_name(run->state),
                            run->error_text[0] != '\0' ? ": " : "", run->error_text);
}

/* --- calls
 * --------------------------------------------------------------------------------------------- */

bool culex_test_calls_are(culex_test *test, const culex_job_type *type, size_t count)
{
    size_t found = culex_test_call_count(test, type);
    if (!culex__test_begin(test))
        return false;
    if (found == count)
        return true;
    return culex__test_fail(test, "expected %zu call%s of handlers of %s, there %s %zu", count,
                            count == 1 ? "" : "s", type != NULL ? type->name : "any job",
                            found == 1 ? "was" : "were", found);
}

const culex_test_call *culex_test_last(culex_test *test, const culex_job_type *type)
{
    size_t count = culex_test_call_count(test, type);
    if (!culex__test_begin(test))
        return NULL;
    if (count > 0)
        return culex_test_call_at(test, type, count - 1);
    culex__test_fail(test, "no handler of %s was called", type != NULL ? type->name : "any job");
    culex__pending_tell(test);
    return NULL;
}

/* --- anything else
 * ----------------------------------------------------------------------------------------- */

bool culex_test_is(culex_test *test, bool holds, const char *condition)
{
    if (!culex__test_begin(test))
        return false;
    if (holds)
        return true;
    return culex__test_fail(test, "not so: %s", condition != NULL ? condition : "NULL");
}
