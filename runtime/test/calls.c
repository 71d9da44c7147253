#include "test/calls.h"

#include <stdlib.h>
#include <string.h>

#include "core/codec_decode.h"
#include "handler/run.h"
#include "test/kit.h"

/* Of the kit's arena; "" for NULL, and without memory. */
static const char *text_keep(culex_test *test, const char *text)
{
    size_t size = text != NULL ? strlen(text) + 1 : 1;
    char *kept = culex_arena_alloc(test->arena, size);
    if (kept == NULL || text == NULL)
        return "";
    memcpy(kept, text, size);
    return kept;
}

static bool calls_grow(struct culex_calls *calls)
{
    if (calls->count < calls->room)
        return true;
    size_t room = calls->room > 0 ? 2 * calls->room : 16;
    struct culex_test_call **grown = realloc(calls->rows, room * sizeof(struct culex_test_call *));
    if (grown == NULL)
        return false;
    calls->rows = grown;
    calls->room = room;
    return true;
}

/* The handler's params end with it: they are read again for those who ask later. */
struct culex_test_call *culex__calls_make(culex_test *test, const culex_run *run)
{
    const culex_job_type *type = run->job.type;
    struct culex_test_call *call = culex_arena_alloc(test->arena, sizeof *call);
    if (call == NULL)
        return NULL;
    *call = (struct culex_test_call){.id = run->facts.id,
                                     .job = type->wire,
                                     .queue = text_keep(test, run->terms.queue),
                                     .attempt = run->facts.attempt,
                                     .at = culex_test_now(test),
                                     .text = ""};
    const struct culex__sealing sealing =
        culex__sealing_make(&test->keys, &test->env, type, CULEX_SEALED_PARAMS);
    if (culex__decode_sealed(&sealing, type->params, test->arena, run->payload, run->payload_len,
                             &call->params, NULL) != CULEX_OK)
        return NULL;
    return call;
}

struct culex_test_call *culex__calls_begin(culex_test *test, const culex_run *run)
{
    struct culex_test_call *call = calls_grow(&test->calls) ? culex__calls_make(test, run) : NULL;
    if (call != NULL)
        test->calls.rows[test->calls.count++] = call;
    return call;
}

static culex_outcome outcome_of(enum culex_run_event event)
{
    switch (event) {
    case CULEX_EVENT_DONE:
        return CULEX_DONE;
    case CULEX_EVENT_DISCARD:
        return CULEX_DISCARDED;
    case CULEX_EVENT_RELEASE:
        return CULEX_SNOOZED;
    default:
        return CULEX_FAILED;
    }
}

void culex__calls_end(culex_test *test, struct culex_test_call *call,
                      const struct culex_execution_end *end)
{
    if (call == NULL)
        return;
    call->outcome = outcome_of(end->event);
    call->text = text_keep(test, end->text);
}

void culex__calls_fail(culex_test *test, culex_uuid id, uint32_t attempt, const char *text)
{
    for (size_t i = test->calls.count; i-- > 0;) {
        struct culex_test_call *call = test->calls.rows[i];
        if (call->attempt != attempt || memcmp(&call->id, &id, sizeof id) != 0)
            continue;
        if (call->outcome != CULEX_FAILED)
            call->text = text_keep(test, text);
        call->outcome = CULEX_FAILED;
        return;
    }
}

const struct culex_test_call *culex__calls_newest(const struct culex_calls *calls)
{
    return calls->count > 0 ? calls->rows[calls->count - 1] : NULL;
}

void culex__calls_free(struct culex_calls *calls)
{
    free(calls->rows);
    *calls = (struct culex_calls){0};
}

static bool is_of(const culex_test_call *call, const culex_job_type *type)
{
    return type == NULL || strcmp(call->job, type->wire) == 0;
}

size_t culex_test_call_count(const culex_test *test, const culex_job_type *type)
{
    size_t count = 0;
    for (size_t i = 0; test != NULL && i < test->calls.count; i++)
        count += is_of(test->calls.rows[i], type);
    return count;
}

const culex_test_call *culex_test_call_at(const culex_test *test, const culex_job_type *type,
                                          size_t index)
{
    for (size_t i = 0; test != NULL && i < test->calls.count; i++) {
        if (is_of(test->calls.rows[i], type) && index-- == 0)
            return test->calls.rows[i];
    }
    return NULL;
}
