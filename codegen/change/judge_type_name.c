/* judge_type_name.c - types that were renamed and are not in the findings of any job, as when a
 * file of types moves to another package. Stored runs stay readable; C code that uses the types
 * does not compile. */
#include <string.h>

#include "judge.h"

/* The types of today by all that an older one might be known again by; of those that are new, the
 * first of each kind. */
struct names {
    const struct change *change;
    struct arena scratch;
    struct map before, after; /* own types by kind and name */
    struct map lasts;         /* of new ones: kind and last part of the name */
    struct map versions;      /* of new ones: kind and fingerprint */
    struct map packages;      /* of jobs of today */
};

static const char *key_of(struct names *names, const struct lock_type *type, const char *name)
{
    return arena_printf(&names->scratch, "%s %s", type->kind, name);
}

static void names_add(struct names *names, struct lock_type *type)
{
    map_add(&names->after, key_of(names, type, type->name), type);
    if (map_get(&names->before, key_of(names, type, type->name)) != NULL)
        return;
    map_add(&names->lasts, key_of(names, type, judge_last_part(type->name)), type);
    map_add(&names->versions, key_of(names, type, type->version), type);
}

static void names_find(struct names *names, const struct change *change)
{
    struct map *const maps[] = {&names->before, &names->after, &names->lasts, &names->versions,
                                &names->packages};
    *names = (struct names){.change = change};
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
        map_init(maps[i], &names->scratch);
    for (struct lock_type *at = change->before->types; at != NULL; at = at->next) {
        if (!at->is_old)
            map_add(&names->before, key_of(names, at, at->name), at);
    }
    for (struct lock_type *at = change->after->types; at != NULL; at = at->next)
        names_add(names, at);
    for (struct lock_job *at = change->after->jobs; at != NULL; at = at->next)
        map_add(&names->packages, at->package == NULL ? "" : at->package, at);
}

/* Packages whose jobs have all moved: that is reported, so their types are not. */
static void packages_left(struct names *names, struct map *left)
{
    map_init(left, &names->scratch);
    for (struct lock_job *at = names->change->before->jobs; at != NULL; at = at->next) {
        const char *package = at->package == NULL ? "" : at->package;
        if (map_get(&names->packages, package) == NULL)
            map_add(left, package, at);
    }
}

static const char *package_of(struct names *names, const struct lock_type *type)
{
    const char *last = judge_last_part(type->name);
    return last == type->name
               ? ""
               : arena_copy(&names->scratch, type->name, (size_t)(last - type->name - 1));
}

static const struct lock_type *find_renamed(struct names *names, const struct lock_type *old)
{
    if (map_get(&names->after, key_of(names, old, old->name)) != NULL)
        return NULL;
    const struct lock_type *type =
        map_get(&names->lasts, key_of(names, old, judge_last_part(old->name)));
    return type != NULL ? type : map_get(&names->versions, key_of(names, old, old->version));
}

static void say_renamed(struct judge *judge, const struct lock_type *old,
                        const struct lock_type *type)
{
    struct spot spot = {.span = type->span, .block = type->allows, .was = old->name};
    judge_report(judge, DIAG_TYPE_RENAMED, &spot, "'%s' has another name in C than before",
                 type->name);
}

void judge_type_names(const struct change *change, const struct map *met)
{
    struct names names;
    struct map left;
    struct judge judge;
    names_find(&names, change);
    packages_left(&names, &left);
    judge_init(&judge, change);
    for (const struct lock_type *at = change->before->types; at != NULL; at = at->next) {
        bool is_told = map_get(met, at->name) != NULL ||
                       map_get(&left, package_of(&names, at)) != NULL || at->is_old;
        const struct lock_type *type = is_told ? NULL : find_renamed(&names, at);
        if (type != NULL)
            say_renamed(&judge, at, type);
    }
    judge_release(&judge);
    arena_release(&names.scratch);
}
