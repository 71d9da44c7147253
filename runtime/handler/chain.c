#include "handler/chain.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/codec_decode.h"
#include "core/end_text.h"
#include "handler/calls.h"
#include "handler/loan.h"
#include "handler/run_sealing.h"

static const culex_job_type *job_find(const culex_chain *chain, const char *wire)
{
    for (size_t i = 0; i < chain->step_count; i++) {
        if (strcmp(chain->steps[i]->wire, wire) == 0)
            return chain->steps[i];
    }
    return NULL;
}

culex_status culex__chain_next(const struct culex_run *run, struct culex_rest rest,
                               const culex_job_type **ret_next, culex_error *error)
{
    const struct culex_chains none = {NULL, 0};
    const struct culex_chains *known = run->loan != NULL ? &run->loan->chains : &none;
    *ret_next = NULL;
    for (size_t i = 0; i < known->count && *ret_next == NULL; i++)
        *ret_next = job_find(known->all[i], rest.steps[0]);
    if (*ret_next != NULL)
        return CULEX_OK;
    return culex__fail(error, CULEX_EUNDERSTAND,
                       CULEX__NEXT_STEP_TEXT "%s: call the chain's _register in this worker",
                       rest.steps[0]);
}

static culex_status result_read(const struct culex_run *run, const void **ret_result,
                                culex_error *error)
{
    if (!run->has_result || run->job.type->result == NULL)
        return culex__fail(error, CULEX_EINVAL,
                           "its params are made of the result, and the handler has set none: call "
                           "the job's _set_result before it returns CULEX_DONE");
    const struct culex__sealing sealing = culex__run_sealing(run, CULEX_SEALED_RESULT);
    return culex__decode_sealed(&sealing, run->job.type->result, run->arena, run->result.data,
                                run->result.len, ret_result, error);
}

static culex_status next_enqueue(struct culex_run *run, const culex_job_type *next,
                                 struct culex_rest rest, culex_error *error)
{
    const void *result = NULL;
    culex_status status = result_read(run, &result, error);
    if (status != CULEX_OK)
        return status;
    void *params = culex_arena_alloc(run->arena, next->params->size);
    if (params == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for its params");
    status = culex__result_to_params(run->job.type->result, result, next->params, params, error);
    if (status != CULEX_OK)
        return status;
    const struct culex_rest behind = {rest.steps + 1, rest.count - 1};
    return culex__run_follow(run, next, params, NULL, behind, error);
}

void culex__chain_go_on(struct culex_run *run, const culex_job_type *next, struct culex_rest rest)
{
    culex_error error = {0};
    if (next_enqueue(run, next, rest, &error) == CULEX_OK)
        return;
    run->end.event = CULEX_EVENT_FAIL;
    culex__run_set_text(run, "the next step of its chain, %s, was not enqueued: %s%s%s", next->name,
                        error.field, error.field[0] != '\0' ? ": " : "", error.text);
}
