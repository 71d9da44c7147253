/* judge_chain.c - chains: runs that are on their way carry the steps that they were enqueued with.
 */
#include <string.h>

#include "judge.h"

static const struct lock_chain *chain_find(const struct lock *lock, const char *name)
{
    const struct lock_chain *at = lock->chains;
    while (at != NULL && strcmp(at->name, name) != 0)
        at = at->next;
    return at;
}

static bool has_step(const struct lock_chain *chain, const char *wire)
{
    const struct lock_text *at = chain->steps;
    while (at != NULL && strcmp(at->text, wire) != 0)
        at = at->next;
    return at != NULL;
}

/* Whether some chain of today tells a worker of the job. */
static bool is_known(const struct lock *lock, const char *wire)
{
    const struct lock_chain *at = lock->chains;
    while (at != NULL && !has_step(at, wire))
        at = at->next;
    return at != NULL;
}

static const char *steps_text(struct arena *arena, const struct lock_chain *chain)
{
    const char *text = arena_printf(arena, "chain %s {", chain->name);
    for (const struct lock_text *at = chain->steps; at != NULL; at = at->next)
        text = arena_printf(arena, "%s %s;", text, at->text);
    return arena_printf(arena, "%s }", text);
}

static bool is_same(const struct lock_text *a, const struct lock_text *b)
{
    while (a != NULL && b != NULL && strcmp(a->text, b->text) == 0)
        a = a->next, b = b->next;
    return a == NULL && b == NULL;
}

/* ---- whether what was one link still fits ---- */

static const struct lock_field *field_find(const struct lock_block *block, const char *name)
{
    const struct lock_field *at = block == NULL ? NULL : block->fields;
    while (at != NULL && strcmp(at->name, name) != 0)
        at = at->next;
    return at;
}

static bool is_same_type(const struct lock_field *field, const struct lock_field *param)
{
    return field->kind == param->kind && field->form == param->form &&
           (field->form != SHAPE_ARRAY || field->count == param->count) &&
           (field->ref == NULL || (param->ref != NULL && strcmp(field->ref, param->ref) == 0));
}

static bool is_fit(const struct lock_block *result, const struct lock_field *param)
{
    const struct lock_field *field = field_find(result, param->name);
    if (field == NULL)
        return param->need != LOCK_REQUIRED;
    return is_same_type(field, param) &&
           !(field->need == LOCK_OPTIONAL && param->need == LOCK_REQUIRED) &&
           !(field->is_secret && !param->is_secret) &&
           !(field->is_encrypted && !param->is_encrypted);
}

static void judge_link(struct judge *judge, const struct spot *spot, const char *from_wire,
                       const char *to_wire)
{
    const struct lock_job *from = lock_job_find(judge->change->after, from_wire);
    const struct lock_job *to = lock_job_find(judge->change->after, to_wire);
    if (from == NULL || to == NULL)
        return; /* Reported as removed. */
    for (const struct lock_field *at = to->params->fields; at != NULL; at = at->next) {
        if (is_fit(from->returns, at))
            continue;
        if (judge_report(
                judge, DIAG_CHAIN_LINK_UNFIT, spot,
                "runs on their way go from '%s' straight to '%s', whose '%s' is not made by "
                "it any more",
                from->name, to->name, at->name))
            diag_help(
                judge->change->sink,
                "give the param a default until the last of them is through, or begin a chain "
                "of another name with jobs of other names");
        return;
    }
}

/* ---- */

static void judge_steps(struct judge *judge, const struct lock_chain *before,
                        const struct lock_chain *after)
{
    struct spot spot = {.span = after->span, .was = steps_text(judge->change->arena, before)};
    bool is_lost = false;
    for (const struct lock_text *at = before->steps; at != NULL; at = at->next) {
        if (at != before->steps && !is_known(judge->change->after, at->text)) {
            is_lost = true;
            if (judge_report(judge, DIAG_CHAIN_STEP_REMOVED, &spot,
                             "runs of '%s' that are on their way go on with '%s', which no chain "
                             "has any more",
                             after->name, at->text))
                diag_help(judge->change->sink,
                          "keep a chain with this step in the workers until none of them is left");
        }
        if (at->next != NULL)
            judge_link(judge, &spot, at->text, at->next->text);
    }
    if (!is_lost)
        judge_report(judge, DIAG_CHAIN_STEPS_CHANGED, &spot,
                     "runs of '%s' that are on their way go on with the steps that they began with",
                     after->name);
}

static void judge_removed(struct judge *judge, const struct lock_chain *before)
{
    struct spot spot = {.span = judge->change->after->span,
                        .was = steps_text(judge->change->arena, before)};
    if (judge_report(judge, DIAG_CHAIN_REMOVED, &spot, "chain '%s' was removed", before->name))
        diag_help(
            judge->change->sink,
            "keep it in the workers until none of its runs is on its way: they are given back "
            "where no chain has their next step");
}

void judge_chains(const struct change *change)
{
    struct judge judge;
    judge_init(&judge, change);
    for (const struct lock_chain *at = change->before->chains; at != NULL; at = at->next) {
        const struct lock_chain *after = chain_find(change->after, at->name);
        if (after == NULL)
            judge_removed(&judge, at);
        else if (!is_same(at->steps, after->steps))
            judge_steps(&judge, at, after);
    }
    judge_release(&judge);
}
