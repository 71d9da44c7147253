#include "test/scripts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "client/newrun.h"
#include "client/sealing.h"
#include "core/codec_decode.h"
#include "core/codec_encode.h"
#include "handler/run.h"
#include "test/failure.h"
#include "test/kit.h"
#include "worker/jobs.h"

/* --- reading ------------------------------------------------------------------------------------
 */

static struct culex_script *script_find(const struct culex_scripts *scripts,
                                        const culex_job_type *type)
{
    for (size_t i = 0; i < scripts->count; i++) {
        if (strcmp(scripts->rows[i].type->wire, type->wire) == 0)
            return &scripts->rows[i];
    }
    return NULL;
}

/* Lines live in the kit's arena. */
static const struct culex_script_line *line_take(struct culex_script *script)
{
    const struct culex_script_line *line = script->once;
    if (line != NULL) {
        script->once = line->next;
        return line;
    }
    line = script->always;
    if (line != NULL && line->next != NULL)
        script->always = line->next;
    return line;
}

/* As a handler that hears of a refusal. */
static void result_set(culex_run *run, const culex_struct_type *type, const void *result,
                       culex_outcome *outcome)
{
    culex_error error = {0};
    if (culex_run_set_result(run, type, result, &error) != CULEX_OK)
        *outcome = culex_run_fail(run, "%s", error.text);
}

bool culex__scripts_take(culex_test *test, culex_run *run, culex_outcome *ret_outcome)
{
    struct culex_script *script = script_find(&test->scripts, run->job.type);
    const struct culex_script_line *line = script != NULL ? line_take(script) : NULL;
    if (line == NULL)
        return false;
    if (line->text != NULL)
        culex__run_set_text(run, "%s", line->text);
    *ret_outcome = line->outcome;
    if (line->result != NULL)
        result_set(run, script->type->result, line->result, ret_outcome);
    return true;
}

/* --- for a pass ----------------------------------------------------------------------------------
 */

static void nobody(void)
{
}

static culex_outcome nobody_call(culex_run *run, culex_handler_fn handler, const void *params,
                                 void *user)
{
    (void)handler, (void)params, (void)user;
    return culex_run_fail(run, "the test has no handler for this call");
}

culex_status culex__scripts_register(culex_test *test, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < test->scripts.count && status == CULEX_OK; i++) {
        const struct culex_job job = {
            .type = test->scripts.rows[i].type, .call = nobody_call, .handler = nobody};
        if (culex__jobs_find(test->worker, job.type->wire) == NULL)
            status = culex__jobs_add(test->worker, &job, error);
    }
    return status;
}

/* --- writing -------------------------------------------------------------------------------------
 */

static struct culex_script *script_add(struct culex_scripts *scripts, const culex_job_type *type)
{
    struct culex_script *grown =
        realloc(scripts->rows, (scripts->count + 1) * sizeof *scripts->rows);
    if (grown == NULL)
        return NULL;
    scripts->rows = grown;
    grown[scripts->count] = (struct culex_script){.type = type};
    return &grown[scripts->count++];
}

static struct culex_script_line *line_make(culex_test *test, culex_outcome outcome,
                                           const char *text)
{
    size_t size = text != NULL ? strlen(text) + 1 : 0;
    struct culex_script_line *line = culex_arena_alloc(test->arena, sizeof *line + size);
    if (line == NULL)
        return NULL;
    *line = (struct culex_script_line){.outcome = outcome};
    if (text != NULL)
        line->text = memcpy(line + 1, text, size);
    return line;
}

static void line_append(struct culex_script_line **list, struct culex_script_line *line)
{
    while (*list != NULL)
        list = &(*list)->next;
    *list = line;
}

/* `line` may be NULL, for want of memory. */
static culex_status line_add(culex_test *test, const culex_job_type *type,
                             struct culex_script_line *line, bool is_once)
{
    struct culex_script *script = script_find(&test->scripts, type);
    if (script == NULL)
        script = script_add(&test->scripts, type);
    if (script == NULL || line == NULL)
        return CULEX_ENOMEM;
    line_append(is_once ? &script->once : &script->always, line);
    return CULEX_OK;
}

static culex_status outcome_add(culex_test *test, const culex_job_type *type, culex_outcome outcome,
                                const char *text, bool is_once)
{
    culex_error error = {0};
    if (test == NULL || type == NULL || (int)outcome < CULEX_DONE || outcome > CULEX_SNOOZED)
        return CULEX_EINVAL;
    culex_status status = culex__job_type_check(type, &error);
    return status == CULEX_OK ? line_add(test, type, line_make(test, outcome, text), is_once)
                              : status;
}

/* A copy in the kit's arena, by way of its text: what cannot be written is refused. */
static culex_status result_copy(culex_test *test, const culex_job_type *type, const void *result,
                                const void **ret_copy, culex_error *error)
{
    const struct culex__sealing sealing =
        culex__sealing_make(&test->keys, &test->env, type, CULEX_SEALED_RESULT);
    culex_buf text;
    culex_buf_init(&text, 0);
    culex_status status = culex__encode_sealed(&sealing, type->result, result, &text, error);
    if (status == CULEX_OK)
        status = culex__decode_sealed(&sealing, type->result, test->arena, text.data, text.len,
                                      ret_copy, error);
    culex_buf_release(&text);
    return status;
}

static bool result_check(culex_test *test, const culex_job_type *type, const void *result)
{
    culex_error error = {0};
    if (type == NULL || result == NULL)
        return culex__test_fail(test, "no %s: NULL was given for its %s",
                                type == NULL ? "job" : "result", type == NULL ? "type" : "value");
    if (culex__job_type_check(type, &error) != CULEX_OK)
        return culex__test_fail(test, "%s", error.text);
    return type->result != NULL ||
           culex__test_fail(test, "job %s returns nothing: culex_test_fake says how it ends",
                            type->name);
}

static bool result_add(culex_test *test, const culex_job_type *type, const void *result,
                       bool is_once)
{
    const void *copy = NULL;
    culex_error error = {0};
    if (!culex__test_begin(test) || !result_check(test, type, result))
        return false;
    if (result_copy(test, type, result, &copy, &error) != CULEX_OK)
        return culex__test_fail(test, "the result of %s: %s", type->name, error.text);
    struct culex_script_line *line = line_make(test, CULEX_DONE, NULL);
    if (line != NULL)
        line->result = copy;
    return line_add(test, type, line, is_once) == CULEX_OK ||
           culex__test_fail(test, "no memory for a stand-in");
}

culex_status culex_test_fake(culex_test *test, const culex_job_type *type, culex_outcome outcome,
                             const char *text)
{
    return outcome_add(test, type, outcome, text, false);
}

culex_status culex_test_fake_once(culex_test *test, const culex_job_type *type,
                                  culex_outcome outcome, const char *text)
{
    return outcome_add(test, type, outcome, text, true);
}

bool culex_test_fake_result(culex_test *test, const culex_job_type *type, const void *result)
{
    return result_add(test, type, result, false);
}

bool culex_test_fake_result_once(culex_test *test, const culex_job_type *type, const void *result)
{
    return result_add(test, type, result, true);
}

void culex__scripts_free(struct culex_scripts *scripts)
{
    free(scripts->rows);
    *scripts = (struct culex_scripts){0};
}
