/* Enums and structs, as params and results meet them. */
#include <string.h>

#include "judge.h"

static bool is_new_pair(struct judge *judge, const struct lock_type *before,
                        const struct lock_type *after)
{
    const char *key = arena_printf(&judge->scratch, "%d %p %p", judge->is_result,
                                   (const void *)before, (const void *)after);
    return map_add(&judge->seen, key, (void *)(uintptr_t)after) == NULL;
}

static struct spot spot_of(const struct lock_type *type)
{
    return (struct spot){.span = type->span, .block = type->allows};
}

void judge_structs(struct judge *judge, const struct lock_type *before,
                   const struct lock_type *after)
{
    struct spot spot = spot_of(after);
    if (is_new_pair(judge, before, after))
        judge_block(judge, &before->block, &after->block, &spot);
}

static const struct lock_value *find_value(const struct lock_type *type, const char *name)
{
    const struct lock_value *value = type->values;
    while (value != NULL && strcmp(value->name, name) != 0)
        value = value->next;
    return value;
}

static void judge_value_kept(struct judge *judge, const struct lock_value *before,
                             const struct lock_value *after, const struct lock_type *type)
{
    struct spot spot = {
        .span = after->span, .was = before->number, .own = after->allows, .block = type->allows};
    if (strcmp(before->number, after->number) != 0 &&
        judge_report(judge, DIAG_ENUM_VALUE_RENUMBERED, &spot,
                     "'%s' has another number than before", after->name))
        diag_help(judge->change->sink, "write: %s = %s", after->name, before->number);
}

static void judge_value_added(struct judge *judge, const struct lock_type *before,
                              const struct lock_value *value, const struct lock_type *type)
{
    struct spot spot = {.span = value->span, .own = value->allows, .block = type->allows};
    if ((lock_text_has(before->block.gone, value->name) ||
         lock_text_has(before->block.reserved, value->name)) &&
        judge_report(judge, DIAG_ENUM_VALUE_NAME_REUSED, &spot, "'%s' was used once and removed",
                     value->name))
        diag_help(judge->change->sink, "choose another name");
    if (lock_text_has(before->gone_numbers, value->number) ||
        lock_text_has(before->reserved_numbers, value->number))
        judge_report(judge, DIAG_ENUM_NUMBER_REUSED, &spot,
                     "the number of '%s' belonged to a value that was removed", value->name);
    if ((type->is_closed || judge->is_result) &&
        judge_report(judge, DIAG_CLOSED_ENUM_VALUE_ADDED, &spot,
                     judge->is_result ? "'%s' is a value that old programs cannot read in a result"
                                      : "'%s' is a value that old workers do not know",
                     value->name))
        diag_help(judge->change->sink, judge->is_result
                                           ? "deploy what reads results first, then the workers"
                                           : "deploy the workers first, then what enqueues");
}

static void judge_value_removed(struct judge *judge, const struct lock_value *value,
                                const struct lock_type *type)
{
    struct spot spot = spot_of(type);
    spot.was = arena_printf(&judge->scratch, "%s = %s", value->name, value->number);
    if (judge_report(judge, DIAG_ENUM_VALUE_REMOVED, &spot,
                     "'%s' was removed, and stored runs may have it", value->name))
        diag_help(judge->change->sink,
                  "keep it, marked [[deprecated]], until no run has it; then reserve name and "
                  "number");
}

static void judge_values(struct judge *judge, const struct lock_type *before,
                         const struct lock_type *after)
{
    for (const struct lock_value *at = after->values; at != NULL; at = at->next) {
        const struct lock_value *old = find_value(before, at->name);
        if (old != NULL)
            judge_value_kept(judge, old, at, after);
        else
            judge_value_added(judge, before, at, after);
    }
    for (const struct lock_value *at = before->values; at != NULL; at = at->next) {
        if (find_value(after, at->name) == NULL)
            judge_value_removed(judge, at, after);
    }
}

static bool has_number(const struct lock_type *type, const char *number)
{
    const struct lock_value *value = type->values;
    while (value != NULL && strcmp(value->number, number) != 0)
        value = value->next;
    return value != NULL;
}

static void judge_reserved(struct judge *judge, const struct lock_type *before,
                           const struct lock_type *after)
{
    struct spot spot = spot_of(after);
    for (const struct lock_text *at = before->block.reserved; at != NULL; at = at->next) {
        if (!lock_text_has(after->block.reserved, at->text) &&
            find_value(after, at->text) == NULL &&
            judge_report(judge, DIAG_RESERVED_REMOVED, &spot, "'%s' is no longer reserved",
                         at->text))
            diag_help(judge->change->sink, "write: reserved \"%s\"", at->text);
    }
    for (const struct lock_text *at = before->reserved_numbers; at != NULL; at = at->next) {
        if (!lock_text_has(after->reserved_numbers, at->text) && !has_number(after, at->text) &&
            judge_report(judge, DIAG_RESERVED_REMOVED, &spot, "the number %s is no longer reserved",
                         at->text))
            diag_help(judge->change->sink, "write: reserved %s", at->text);
    }
}

void judge_enums(struct judge *judge, const struct lock_type *before, const struct lock_type *after)
{
    struct spot spot = spot_of(after);
    if (!is_new_pair(judge, before, after))
        return;
    judge_values(judge, before, after);
    judge_reserved(judge, before, after);
    spot.was = before->base;
    if (strcmp(before->base, after->base) != 0)
        judge_report(judge, DIAG_ENUM_BASE_CHANGED, &spot, "'%s' is another integer in C",
                     after->name);
    spot.was = NULL;
    if (!before->is_closed && after->is_closed)
        judge_report(judge, DIAG_ENUM_OPENED_TO_CLOSED, &spot, "'%s' is closed now", after->name);
}
