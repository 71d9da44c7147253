/* judge_enum.c - enums, as params and results use them. */
#include <string.h>

#include "judge.h"

static struct spot spot_of(const struct lock_type *type)
{
    return (struct spot){.span = type->span, .block = type->allows};
}

/* The values of an enum by what they are called and counted, and what it gave up. */
struct value_names {
    const struct lock_type *type;
    struct map names, numbers;
    struct map given_names, given_numbers;       /* by name and number, reserved or gone */
    struct map reserved_names, reserved_numbers; /* the reserved ones alone */
};

static void names_find(struct value_names *names, struct arena *arena, const struct lock_type *type)
{
    struct map *const maps[] = {&names->names,          &names->numbers,
                                &names->given_names,    &names->given_numbers,
                                &names->reserved_names, &names->reserved_numbers};
    names->type = type;
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
        map_init(maps[i], arena);
    for (struct lock_value *at = type->values; at != NULL; at = at->next) {
        map_add(&names->names, at->name, at);
        map_add(&names->numbers, at->number, at);
    }
    lock_text_index(type->block.reserved, &names->reserved_names);
    lock_text_index(type->reserved_numbers, &names->reserved_numbers);
    lock_text_index(type->block.reserved, &names->given_names);
    lock_text_index(type->block.gone, &names->given_names);
    lock_text_index(type->reserved_numbers, &names->given_numbers);
    lock_text_index(type->gone_numbers, &names->given_numbers);
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

static void judge_value_added(struct judge *judge, const struct value_names *before,
                              const struct lock_value *value, const struct lock_type *type)
{
    struct spot spot = {.span = value->span, .own = value->allows, .block = type->allows};
    if (map_get(&before->given_names, value->name) != NULL &&
        judge_report(judge, DIAG_ENUM_VALUE_NAME_REUSED, &spot, "'%s' was used once and removed",
                     value->name))
        diag_help(judge->change->sink, "choose another name");
    if (map_get(&before->given_numbers, value->number) != NULL)
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

static void judge_values(struct judge *judge, const struct value_names *before,
                         const struct value_names *after)
{
    for (const struct lock_value *at = after->type->values; at != NULL; at = at->next) {
        const struct lock_value *old = map_get(&before->names, at->name);
        if (old != NULL)
            judge_value_kept(judge, old, at, after->type);
        else
            judge_value_added(judge, before, at, after->type);
    }
    for (const struct lock_value *at = before->type->values; at != NULL; at = at->next) {
        if (map_get(&after->names, at->name) == NULL)
            judge_value_removed(judge, at, after->type);
    }
}

static void judge_reserved(struct judge *judge, const struct lock_type *before,
                           const struct value_names *after)
{
    struct spot spot = spot_of(after->type);
    for (const struct lock_text *at = before->block.reserved; at != NULL; at = at->next) {
        if (map_get(&after->reserved_names, at->text) == NULL &&
            map_get(&after->names, at->text) == NULL &&
            judge_report(judge, DIAG_RESERVED_REMOVED, &spot, "'%s' is no longer reserved",
                         at->text))
            diag_help(judge->change->sink, "write: reserved \"%s\"", at->text);
    }
    for (const struct lock_text *at = before->reserved_numbers; at != NULL; at = at->next) {
        if (map_get(&after->reserved_numbers, at->text) == NULL &&
            map_get(&after->numbers, at->text) == NULL &&
            judge_report(judge, DIAG_RESERVED_REMOVED, &spot, "the number %s is no longer reserved",
                         at->text))
            diag_help(judge->change->sink, "write: reserved %s", at->text);
    }
}

void judge_enums(struct judge *judge, const struct lock_type *before, const struct lock_type *after)
{
    struct spot spot = spot_of(after);
    if (!judge_is_new(judge, before, after))
        return;
    struct value_names old, new;
    names_find(&old, &judge->scratch, before);
    names_find(&new, &judge->scratch, after);
    judge_values(judge, &old, &new);
    judge_reserved(judge, before, &new);
    spot.was = before->base;
    if (strcmp(before->base, after->base) != 0)
        judge_report(judge, DIAG_ENUM_BASE_CHANGED, &spot, "'%s' is another integer in C",
                     after->name);
    spot.was = NULL;
    if (!before->is_closed && after->is_closed)
        judge_report(judge, DIAG_ENUM_OPENED_TO_CLOSED, &spot, "'%s' is closed now", after->name);
}
