#include "diag.h"

#include <stdlib.h>
#include <string.h>

#include "allowance.h"
#include "core/queue_name.h"
#include "limits.h"

static const struct {
    const char *slug;
    enum diag_severity severity;
    const char *explanation;
    enum diag_table table;
    const char *tier;
} table[DIAG_COUNT] = {
#define DIAG(symbol, slug, severity, explanation)                                                  \
    {slug, DIAG_##severity, explanation, TABLE_SCHEMA, NULL},
#define LINT(symbol, slug, tier, explanation) {slug, DIAG_WARNING, explanation, TABLE_LINT, #tier},
#define BREAKING(symbol, slug, category, severity, explanation)                                    \
    {slug, DIAG_##severity, explanation, TABLE_BREAKING, #category},
#include "diag_ids.def"
#include "lint_ids.def"
#include "breaking_ids.def"
#undef DIAG
#undef LINT
#undef BREAKING
};

const char *diag_slug(enum diag_id id)
{
    return table[id].slug;
}

const char *diag_explanation(enum diag_id id)
{
    return table[id].explanation;
}

size_t diag_prose_length(const char *explanation)
{
    const char *example = strstr(explanation, "\n\n");
    return example == NULL ? strlen(explanation) : (size_t)(example - explanation);
}

enum diag_severity diag_default_severity(enum diag_id id)
{
    return table[id].severity;
}

enum diag_table diag_table_of(enum diag_id id)
{
    return table[id].table;
}

const char *diag_tier(enum diag_id id)
{
    return table[id].tier;
}

/* DIAG_OFF: not to be shown. `policy` may be NULL. */
static enum diag_severity severity_under(const struct diag_policy *policy, enum diag_id id)
{
    enum diag_severity severity = table[id].severity;
    if (severity == DIAG_ERROR || policy == NULL)
        return severity;
    int shown = policy->shown[id], error = policy->error[id];
    if (shown < 0 || (shown == 0 && severity == DIAG_OFF))
        return DIAG_OFF;
    return error > 0 || (error == 0 && policy->is_strict) ? DIAG_ERROR : DIAG_WARNING;
}

enum diag_id diag_find(const char *slug, struct suggestion *ret_near)
{
    int id = 0;
    while (id < DIAG_COUNT && strcmp(table[id].slug, slug) != 0)
        id++;
    if (id < DIAG_COUNT || ret_near == NULL)
        return (enum diag_id)id;
    *ret_near = suggestion_start(slug);
    for (int at = 0; at < DIAG_COUNT; at++)
        suggestion_offer(ret_near, table[at].slug);
    return DIAG_COUNT;
}

void diag_sink_init(struct diag_sink *sink, struct arena *arena)
{
    *sink = (struct diag_sink){.arena = arena};
}

/* What was removed shares a place with other things that were, as the params of a chain's step do,
 * and a plug-in has but one id. */
static bool has_many_texts(enum diag_id id)
{
    return id >= DIAG_JOB_REMOVED || id == DIAG_PLUGIN_ERROR || id == DIAG_CHAIN_UNFIT ||
           id == DIAG_CHAIN_EXPOSED || id == DIAG_CHAIN_DROPPED;
}

/* Said before: the same of the same place. */
static bool is_repeated(const struct diag_sink *sink, enum diag_id id, struct span span,
                        const char *text)
{
    for (const struct diag *diag = sink->first; diag != NULL; diag = diag->next) {
        if (diag->id == id && diag->span.source == span.source &&
            diag->span.offset == span.offset && diag->span.length == span.length &&
            (!has_many_texts(id) || strcmp(diag->text, text) == 0))
            return true;
    }
    return false;
}

/* Counts the report; false when it is over the limit. */
static bool is_counted(struct diag_sink *sink, enum diag_severity severity)
{
    unsigned errors_max = sink->policy == NULL ? 0 : sink->policy->errors_max;
    if (severity == DIAG_WARNING) {
        sink->has_more_warnings |= sink->warnings == LIMIT_WARNINGS;
        return !sink->has_more_warnings && ++sink->warnings;
    }
    if (sink->errors == (errors_max == 0 ? LIMIT_ERRORS : errors_max))
        sink->is_full = true;
    return !sink->is_full && ++sink->errors;
}

void diag_report(struct diag_sink *sink, enum diag_id id, struct span span, const char *format, ...)
{
    enum diag_severity severity = severity_under(sink->policy, id);
    sink->current = NULL;
    sink->has_faults |= table[id].severity == DIAG_ERROR;
    if ((table[id].severity != DIAG_ERROR && allowance_covers(span, id)) || severity == DIAG_OFF)
        return;
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(sink->arena, format, args);
    va_end(args);
    if (is_repeated(sink, id, span, text) || !is_counted(sink, severity))
        return;
    struct diag *diag = arena_alloc(sink->arena, sizeof(*diag));
    diag->text = text;
    diag->id = id;
    diag->severity = severity;
    diag->span = span;
    if (sink->last != NULL)
        sink->last->next = diag;
    else
        sink->first = diag;
    sink->last = diag;
    sink->current = diag;
}

void diag_note(struct diag_sink *sink, struct span span, const char *format, ...)
{
    if (sink->current == NULL)
        return;
    struct diag_note *note = arena_alloc(sink->arena, sizeof(*note));
    va_list args;
    va_start(args, format);
    note->text = arena_vprintf(sink->arena, format, args);
    va_end(args);
    note->span = span;
    struct diag_note **end = &sink->current->notes;
    while (*end != NULL)
        end = &(*end)->next;
    *end = note;
}

void diag_help(struct diag_sink *sink, const char *format, ...)
{
    if (sink->current == NULL)
        return;
    va_list args;
    va_start(args, format);
    sink->current->help = arena_vprintf(sink->arena, format, args);
    va_end(args);
}

const char *diag_applicability_word(enum diag_applicability applicability)
{
    static const char *const words[] = {"unspecified", "has-placeholders", "maybe-incorrect",
                                        "machine-applicable"};
    return words[applicability];
}

void diag_fix(struct diag_sink *sink, enum diag_applicability applicability, struct span span,
              const char *format, ...)
{
    struct diag *diag = sink->current;
    if (diag == NULL)
        return;
    if (diag->fixes == NULL || applicability < diag->applicability)
        diag->applicability = applicability;
    struct diag_fix *fix = arena_alloc(sink->arena, sizeof(*fix));
    va_list args;
    va_start(args, format);
    fix->text = arena_vprintf(sink->arena, format, args);
    va_end(args);
    fix->span = span;
    struct diag_fix **end = &diag->fixes;
    while (*end != NULL)
        end = &(*end)->next;
    *end = fix;
}

void diag_suggest(struct diag_sink *sink, struct span span, const struct suggestion *suggestion)
{
    if (suggestion->best == NULL)
        return;
    diag_help(sink, "did you mean '%s'?", suggestion->best);
    bool is_plain = suggestion_is_plain(suggestion);
    diag_fix(sink, is_plain ? FIX_MACHINE_APPLICABLE : FIX_MAYBE_INCORRECT, span, "%s",
             suggestion->best);
}

static bool is_before(const struct diag *a, const struct diag *b)
{
    if (a->span.source != b->span.source)
        return a->span.source->index < b->span.source->index;
    return a->span.offset < b->span.offset;
}

/* Insertion keeps equal ones in order; the list is short by construction. */
void diag_sort(struct diag_sink *sink)
{
    struct diag *sorted = NULL;
    while (sink->first != NULL) {
        struct diag *diag = sink->first;
        sink->first = diag->next;
        struct diag **at = &sorted;
        while (*at != NULL && !is_before(diag, *at))
            at = &(*at)->next;
        diag->next = *at;
        *at = diag;
    }
    sink->first = sorted;
}
