/* handler/run_hooks.c - hooks as layers around a handler. */
#include "handler/run_hooks.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "core/end_text.h"
#include "handler/run.h"

/* --- the list ---------------------------------------------------------------------------- */

static culex_status name_check(const char *name, culex_error *error)
{
    size_t len = name != NULL ? strnlen(name, CULEX_HOOK_NAME_MAX + 1) : 0;
    if (len > 0 && len <= CULEX_HOOK_NAME_MAX && culex__utf8_is_line(name, len))
        return CULEX_OK;
    return culex__fail(error, CULEX_EINVAL,
                       "hook.name is what a failure of the hook is told with: 1 to %d bytes of "
                       "UTF-8 without control characters",
                       CULEX_HOOK_NAME_MAX);
}

static culex_status hook_check(const struct culex_run_hooks *hooks,
                               const struct culex_run_hook *fresh, culex_error *error)
{
    const culex_hook *hook = &fresh->hook;
    culex_status status = name_check(hook->name, error);
    if (status != CULEX_OK)
        return status;
    if (hook->before == NULL && hook->around == NULL && hook->after == NULL)
        return culex__fail(error, CULEX_EINVAL,
                           "hook '%s' has no function: neither before, nor around, nor after",
                           hook->name);
    for (size_t i = 0; i < hooks->count; i++) {
        if (hooks->rows[i].type == fresh->type && strcmp(hooks->rows[i].hook.name, hook->name) == 0)
            return culex__fail(error, CULEX_EINVAL, "hook '%s' is there already for %s%s",
                               hook->name, fresh->type != NULL ? "job " : "all jobs",
                               fresh->type != NULL ? fresh->type->name : "");
    }
    if (hooks->count == CULEX_HOOKS_MAX)
        return culex__fail(error, CULEX_ELIMIT, "hook '%s': a worker has at most %d hooks",
                           hook->name, CULEX_HOOKS_MAX);
    return CULEX_OK;
}

/* Those for all jobs are called first. */
static size_t place_of(const struct culex_run_hooks *hooks, const struct culex_run_hook *fresh)
{
    size_t at = 0;
    if (fresh->type != NULL)
        return hooks->count;
    while (at < hooks->count && hooks->rows[at].type == NULL)
        at++;
    return at;
}

culex_status culex__run_hooks_add(struct culex_run_hooks *hooks, const struct culex_run_hook *hook,
                                  culex_error *error)
{
    culex_status status = hook_check(hooks, hook, error);
    if (status != CULEX_OK)
        return status;
    size_t at = place_of(hooks, hook);
    struct culex_run_hook *grown = realloc(hooks->rows, (hooks->count + 1) * sizeof *grown);
    if (grown == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for hook '%s'", hook->hook.name);
    memmove(grown + at + 1, grown + at, (hooks->count - at) * sizeof *grown);
    grown[at] = *hook;
    hooks->rows = grown;
    hooks->count++;
    return CULEX_OK;
}

void culex__run_hooks_free(struct culex_run_hooks *hooks)
{
    free(hooks->rows);
    *hooks = (struct culex_run_hooks){.rows = NULL};
}

static bool concerns(const struct culex_run_hook *hook, const culex_job_type *type)
{
    return hook->type == NULL || hook->type == type;
}

bool culex__run_hooks_concern(const struct culex_run_hooks *hooks, const culex_job_type *type)
{
    bool is_concerned = false;
    for (size_t i = 0; i < hooks->count && !is_concerned; i++)
        is_concerned = concerns(&hooks->rows[i], type);
    return is_concerned;
}

/* --- how things ended ---------------------------------------------------------------------- */

/* How the handler, a hook, or several layers have ended. */
struct ending {
    culex_outcome outcome;
    const char *text; /* why, in the run's arena or constant; NULL: nothing was said */
    int64_t delay_ms; /* that a snooze asks for */
};

static int gravity(culex_outcome outcome)
{
    static const int gravities[] = {
        [CULEX_DONE] = 0, [CULEX_SNOOZED] = 1, [CULEX_FAILED] = 2, [CULEX_DISCARDED] = 3};
    return gravities[outcome];
}

static bool is_failure(culex_outcome outcome)
{
    return gravity(outcome) >= gravity(CULEX_FAILED);
}

/* Whatever is called next begins without words. */
static void words_forget(struct culex_run *run)
{
    run->end.text = NULL;
    run->end.delay_ms = 0;
}

/* The words that were just said, where later ones do not overwrite them. */
static const char *words_keep(struct culex_run *run)
{
    size_t size = run->end.text != NULL ? strlen(run->end.text) + 1 : 0;
    if (size == 0)
        return NULL;
    char *kept = culex_arena_alloc(run->arena, size);
    return kept != NULL ? memcpy(kept, run->end.text, size) : "(no memory for the error text)";
}

/* `who` has returned that. */
static struct ending ending_take(struct culex_run *run, const char *who, culex_outcome outcome)
{
    struct ending ending = {.outcome = outcome, .delay_ms = run->end.delay_ms};
    if ((int)outcome < CULEX_DONE || outcome > CULEX_SNOOZED) {
        culex__run_set_text(run, CULEX__NO_OUTCOME_FORMAT, who, (int)outcome);
        ending.outcome = CULEX_FAILED;
    }
    if (is_failure(ending.outcome))
        ending.text = words_keep(run);
    words_forget(run);
    return ending;
}

/* What a hook says of its own, behind what was said before it. */
static const char *text_join(struct culex_run *run, const char *before,
                             const struct culex_run_hook *hook, const char *when, const char *words)
{
    culex__run_set_text(run, "%s%shook '%s' %s the run: %s", before != NULL ? before : "",
                        before != NULL ? "; then " : "", hook->hook.name, when,
                        words != NULL ? words : CULEX__NO_REASON_TEXT);
    const char *text = words_keep(run);
    words_forget(run);
    return text;
}

/* `inner` with what a hook has returned that has seen it. A failure that says nothing hands on what
 * it has seen. */
static struct ending ending_join(struct culex_run *run, struct ending inner,
                                 const struct culex_run_hook *hook, const char *when,
                                 struct ending own)
{
    bool is_told = is_failure(own.outcome) && (own.text != NULL || !is_failure(inner.outcome));
    struct ending both = gravity(own.outcome) > gravity(inner.outcome) ? own : inner;
    if (both.outcome == CULEX_SNOOZED && own.outcome == CULEX_SNOOZED && own.delay_ms > 0)
        both.delay_ms = own.delay_ms;
    both.text = is_told ? text_join(run, inner.text, hook, when, own.text) : inner.text;
    return both;
}

/* --- the calls -----------------------------------------------------------------------------
 *
 * Functions beneath the program's on the stack have names by which a crash report knows them. */

struct culex_next {
    struct culex_run *run;
    const void *params;
    size_t index; /* of the hooks that are left */
    size_t calls;
    struct ending inner; /* of the first call */
};

static struct ending handler_call(struct culex_run *run, const void *params)
{
    const struct culex_job *job = &run->job;
    words_forget(run);
    culex_outcome outcome = job->call(run, job->handler, params, job->user);
    struct ending ending = ending_take(run, "the handler", outcome);
    if (is_failure(ending.outcome) && ending.text == NULL)
        ending.text = CULEX__HANDLER_NO_REASON_TEXT;
    return ending;
}

static struct ending culex__run_hook_before(const struct culex_run_hook *hook,
                                            struct culex_run *run, const void *params)
{
    const culex_hook *own = &hook->hook;
    const struct ending none = {.outcome = CULEX_DONE};
    if (own->before == NULL)
        return none;
    words_forget(run);
    culex_outcome outcome = hook->calls.before != NULL ? hook->calls.before(own, run, params)
                                                       : own->before(run, params, own->user);
    return ending_join(run, none, hook, "before", ending_take(run, "it", outcome));
}

static struct ending culex__run_hook_after(const struct culex_run_hook *hook, struct culex_run *run,
                                           const void *params, struct ending inner)
{
    const culex_hook *own = &hook->hook;
    const char *text = inner.text != NULL ? inner.text : "";
    if (own->after == NULL)
        return inner;
    words_forget(run);
    culex_outcome outcome = hook->calls.after != NULL
                                ? hook->calls.after(own, run, params, inner.outcome, text)
                                : own->after(run, params, inner.outcome, text, own->user);
    return ending_join(run, inner, hook, "after", ending_take(run, "it", outcome));
}

static struct ending culex__run_hook_layers(struct culex_run *run, const void *params,
                                            size_t index);

/* What a hook has done that did not keep to its calls of the next; NULL when it did. */
static const char *slip_of(const struct culex_next *next, culex_outcome outcome)
{
    if (next->calls == 0 && outcome == CULEX_DONE)
        return "it returned without culex_next_call, so the handler was not called";
    return next->calls > 1 ? "it called culex_next_call twice; the handler was called once" : NULL;
}

/* A slip is a failure; what the hook has said of its own stands first. */
static struct ending slip_take(struct culex_run *run, struct ending own, const char *slip)
{
    if (own.text != NULL) {
        culex__run_set_text(run, "%s; %s", own.text, slip);
        slip = words_keep(run);
        words_forget(run);
    }
    own.text = slip;
    own.outcome = is_failure(own.outcome) ? own.outcome : CULEX_FAILED;
    return own;
}

static struct ending culex__run_hook_around(const struct culex_run_hook *hook,
                                            struct culex_run *run, const void *params, size_t index)
{
    const culex_hook *own = &hook->hook;
    struct culex_next next = {
        .run = run, .params = params, .index = index, .inner = {.outcome = CULEX_DONE}};
    if (own->around == NULL)
        return culex__run_hook_layers(run, params, index);
    words_forget(run);
    culex_outcome outcome = hook->calls.around != NULL ? hook->calls.around(own, run, params, &next)
                                                       : own->around(run, params, &next, own->user);
    struct ending ending = ending_take(run, "it", outcome);
    const char *slip = slip_of(&next, ending.outcome);
    if (slip != NULL)
        ending = slip_take(run, ending, slip);
    return ending_join(run, next.inner, hook, "around", ending);
}

/* NULL behind the last one. */
static const struct culex_run_hook *hook_find(const struct culex_run *run, size_t *index)
{
    const struct culex_run_hooks *hooks = run->job.hooks;
    while (*index < hooks->count && !concerns(&hooks->rows[*index], run->job.type))
        ++*index;
    return *index < hooks->count ? &hooks->rows[*index] : NULL;
}

/* The hooks from `index` on, with the handler in their midst. */
static struct ending culex__run_hook_layers(struct culex_run *run, const void *params, size_t index)
{
    const struct culex_run_hook *hook = hook_find(run, &index);
    if (hook == NULL)
        return handler_call(run, params);
    struct ending ending = culex__run_hook_before(hook, run, params);
    if (ending.outcome != CULEX_DONE)
        return ending;
    return culex__run_hook_after(hook, run, params,
                                 culex__run_hook_around(hook, run, params, index + 1));
}

culex_outcome culex_next_call(culex_next *next)
{
    if (next == NULL || next->calls++ > 0)
        return CULEX_FAILED;
    next->inner = culex__run_hook_layers(next->run, next->params, next->index);
    return next->inner.outcome;
}

culex_outcome culex__run_hooks_call(struct culex_run *run, const void *params)
{
    struct ending ending = culex__run_hook_layers(run, params, 0);
    if (ending.text != NULL)
        culex__run_set_text(run, "%s", ending.text);
    run->end.delay_ms = ending.delay_ms;
    return ending.outcome;
}
