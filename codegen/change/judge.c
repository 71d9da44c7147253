/* judge.c - which findings of a comparison are reported, and under which rule. */
#include "judge.h"

#include <inttypes.h>
#include <string.h>

void judge_init(struct judge *judge, const struct change *change)
{
    *judge = (struct judge){.change = change};
    map_init(&judge->seen, &judge->scratch);
}

void judge_release(struct judge *judge)
{
    arena_release(&judge->scratch);
}

const char *judge_last_part(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot == NULL ? name : dot + 1;
}

struct spot judge_spot(const struct lock_job *job)
{
    return (struct spot){.span = job->span, .block = job->allows};
}

bool judge_is_new(struct judge *judge, const struct lock_type *before,
                  const struct lock_type *after)
{
    const char *key =
        arena_printf(&judge->scratch, "%d %p %p", judge->is_result + 2 * judge->is_metadata,
                     (const void *)before, (const void *)after);
    return map_add(&judge->seen, key, (void *)(uintptr_t)after) == NULL;
}

static const char *with(const char *text)
{
    return *text == '\0' ? " [[" : ", ";
}

/* As the field would be written in a schema. */
static const char *field_describe(struct arena *arena, const struct lock_field *field)
{
    const char *type = field->ref != NULL ? field->ref : field->type;
    const char *count = "";
    const char *limits = "";
    if (field->form != SHAPE_SINGLE && field->count >= 0)
        count =
            arena_printf(arena, "%s%" PRId64, field->form == SHAPE_LIST ? "<=" : "", field->count);
    if (field->must_understand)
        limits = " [[must_understand";
    if (field->is_encrypted)
        limits = arena_printf(arena, "%s%sencrypted", limits, with(limits));
    if (field->min_len >= 0)
        limits =
            arena_printf(arena, "%s%smin_len(%" PRId64 ")", limits, with(limits), field->min_len);
    if (field->max_len >= 0)
        limits =
            arena_printf(arena, "%s%smax_len(%" PRId64 ")", limits, with(limits), field->max_len);
    if (field->min != NULL)
        limits = arena_printf(arena, "%s%smin(%s)", limits, with(limits), field->min);
    if (field->max != NULL)
        limits = arena_printf(arena, "%s%smax(%s)", limits, with(limits), field->max);
    return arena_printf(
        arena, "%s%s %s%s%s%s%s%s%s%.64s", field->need == LOCK_OPTIONAL ? "optional " : "", type,
        field->name, field->form != SHAPE_SINGLE ? "[" : "", count,
        field->form != SHAPE_SINGLE ? "]" : "", limits, *limits != '\0' ? "]]" : "",
        field->need == LOCK_DEFAULT ? " = " : "",
        field->need == LOCK_DEFAULT && field->default_text != NULL ? field->default_text : "");
}

static const unsigned char categories[DIAG_COUNT] = {
#define BREAKING(symbol, slug, category, severity, explanation) [DIAG_##symbol] = CHANGE_##category,
#include "breaking_ids.def"
#undef BREAKING
};

/* Findings about what old workers read; the rest is about what new ones read. */
static bool is_rolling(enum diag_id id)
{
    switch (id) {
    case DIAG_RETIRED_REMOVED:
    case DIAG_FIELD_TYPE_WIDENED:
    case DIAG_FIELD_SHAPE_WIDENED:
    case DIAG_FIELD_COUNT_RAISED:
    case DIAG_FIELD_REQUIRED_TO_OPTIONAL:
    case DIAG_FIELD_DEFAULT_TO_OPTIONAL:
    case DIAG_FIELD_REQUIRED_REMOVED:
    case DIAG_FIELD_LIMIT_WIDENED:
    case DIAG_MUST_UNDERSTAND_ADDED:
    case DIAG_CLOSED_ENUM_VALUE_ADDED:
    case DIAG_RESULT_WIDENED:
    case DIAG_RESULT_FIELD_REMOVED:
    case DIAG_RESULT_REMOVED:
        return true;
    default:
        return false;
    }
}

/* Errors that only stored runs can meet: without such a run they are left out. */
static bool is_about_runs(enum diag_id id)
{
    switch (id) {
    case DIAG_JOB_REMOVED:
    case DIAG_JOB_RENAMED_WITHOUT_WAS:
    case DIAG_WAS_REMOVED:
    case DIAG_PACKAGE_CHANGED:
    case DIAG_FIELD_TYPE_CHANGED:
    case DIAG_FIELD_TYPE_NARROWED:
    case DIAG_FIELD_SIGNEDNESS_CHANGED:
    case DIAG_FIELD_ENCRYPTION_CHANGED:
    case DIAG_FIELD_SHAPE_CHANGED:
    case DIAG_FIELD_COUNT_LOWERED:
    case DIAG_FIELD_REQUIRED_ADDED:
    case DIAG_FIELD_OPTIONAL_TO_REQUIRED:
    case DIAG_FIELD_LIMIT_NARROWED:
    case DIAG_MUST_UNDERSTAND_REMOVED:
    case DIAG_ENUM_VALUE_REMOVED:
    case DIAG_RESULT_CHANGED:
        return true;
    default:
        return false;
    }
}

/* The rule for the same finding in what a job returns; DIAG_COUNT: there is none. A worker gives
 * a run back that it cannot read; a client that cannot read a result has an error. */
static enum diag_id id_in_result(enum diag_id id)
{
    switch (id) {
    case DIAG_FIELD_REQUIRED_REMOVED:
        return DIAG_RESULT_FIELD_REMOVED;
    case DIAG_FIELD_REMOVED_UNRESERVED:
    case DIAG_MUST_UNDERSTAND_DROPPED:
        return DIAG_COUNT;
    default:
        if (is_about_runs(id))
            return DIAG_RESULT_CHANGED;
        return is_rolling(id) ? DIAG_RESULT_WIDENED : id;
    }
}

static bool is_allowed(const struct lock_allow *allow, enum diag_id id)
{
    while (allow != NULL && strcmp(allow->id, diag_slug(id)) != 0)
        allow = allow->next;
    return allow != NULL;
}

/* In the history only what makes new programs refuse stored runs counts; everything else was
 * judged when that version was the newest. */
static bool is_wanted(const struct judge *judge, enum diag_id id, const struct spot *spot)
{
    const struct change *change = judge->change;
    if (judge->is_retired && id != DIAG_QUEUE_CHANGED)
        return false;
    if (id == DIAG_COUNT || (categories[id] & change->categories) == 0)
        return false;
    if (is_rolling(id) && (change->is_drain || judge->version != NULL))
        return false;
    if (judge->version != NULL &&
        (!is_about_runs(id) || is_allowed(spot->past_own, id) || is_allowed(spot->past_block, id)))
        return false;
    return !is_allowed(spot->own, id) && !is_allowed(spot->block, id);
}

bool judge_report(struct judge *judge, enum diag_id id, const struct spot *spot, const char *format,
                  ...)
{
    struct diag_sink *sink = judge->change->sink;
    va_list args;
    if (judge->is_result)
        id = id_in_result(id);
    if (!is_wanted(judge, id, spot))
        return false;
    if (judge->is_forgiven && is_about_runs(id)) {
        judge->forgiven++;
        return false;
    }
    va_start(args, format);
    diag_report(sink, id, spot->span, "%s", arena_vprintf(judge->change->arena, format, args));
    va_end(args);
    if (spot->before != NULL)
        diag_note(sink, (struct span){0}, "was: %s",
                  field_describe(judge->change->arena, spot->before));
    if (spot->was != NULL)
        diag_note(sink, (struct span){0}, "was: %s", spot->was);
    if (judge->is_result)
        diag_note(sink, (struct span){0}, "workers write this into results, and clients read it");
    if (judge->is_metadata)
        diag_note(sink, (struct span){0}, "the job keeps this from run to run, as metadata");
    if (judge->version != NULL)
        diag_note(sink, (struct span){0}, "in the version %s, of which %s may still be stored",
                  judge->version, judge->is_result ? "results" : "runs");
    return true;
}
