/* lock_inherit.c - what a new lock keeps of the one before. */
#include <stddef.h>
#include <string.h>

#include "limits.h"
#include "live.h"

struct heir {
    struct arena *arena;
    struct lock *after;
    const struct live *live; /* NULL: keep all */
    struct map types;        /* "name version" -> lock_type of `after` */
};

/* A growing list of names that are no longer in use. */
struct gone {
    struct arena *arena;
    struct map known; /* in use, reserved or in the list */
    struct lock_text **first;
};

static void gone_start(struct gone *gone, struct arena *arena, struct lock_text **first)
{
    *gone = (struct gone){.arena = arena, .first = first};
    map_init(&gone->known, arena);
}

static void gone_know(struct gone *gone, const char *name)
{
    map_add(&gone->known, name, gone);
}

static void gone_know_all(struct gone *gone, const struct lock_text *names)
{
    for (; names != NULL; names = names->next)
        gone_know(gone, names->text);
}

static void gone_offer(struct gone *gone, const char *name)
{
    struct lock_text *first = *gone->first;
    if (map_add(&gone->known, name, gone) != NULL)
        return;
    *gone->first = NULL;
    lock_text_add(gone->arena, gone->first, name);
    (*gone->first)->next = first;
}

static void gone_offer_all(struct gone *gone, const struct lock_text *names)
{
    for (; names != NULL; names = names->next)
        gone_offer(gone, names->text);
}

/* A break that was allowed stays allowed for the versions of that time. */
static void keep_allows(struct arena *arena, struct lock_allow **allows,
                        const struct lock_allow *before)
{
    for (; before != NULL; before = before->next) {
        const struct lock_allow *at = *allows;
        while (at != NULL && strcmp(at->id, before->id) != 0)
            at = at->next;
        if (at != NULL)
            continue;
        struct lock_allow *kept = arena_alloc(arena, sizeof(*kept));
        *kept = *before;
        kept->next = *allows;
        *allows = kept;
    }
    *allows = lock_sort(*allows, offsetof(struct lock_allow, id));
}

static void inherit_allows(struct arena *arena, struct lock_block *after,
                           const struct lock_block *before)
{
    struct arena scratch = {0};
    struct map fields;
    map_init(&fields, &scratch);
    for (struct lock_field *old = before->fields; old != NULL; old = old->next)
        map_add(&fields, old->wire, old);
    for (struct lock_field *field = after->fields; field != NULL; field = field->next) {
        const struct lock_field *old = map_get(&fields, field->wire);
        if (old != NULL)
            keep_allows(arena, &field->allows, old->allows);
    }
    arena_release(&scratch);
}

static void inherit_block(struct arena *arena, struct lock_block *after,
                          const struct lock_block *before)
{
    struct gone gone;
    inherit_allows(arena, after, before);
    gone_start(&gone, arena, &after->gone);
    for (const struct lock_field *at = after->fields; at != NULL; at = at->next)
        gone_know(&gone, at->wire);
    gone_know_all(&gone, after->reserved);
    for (const struct lock_field *at = before->fields; at != NULL; at = at->next)
        gone_offer(&gone, at->wire);
    gone_offer_all(&gone, before->reserved);
    gone_offer_all(&gone, before->gone);
    after->gone = lock_text_sort(after->gone);
}

static void inherit_enum(struct arena *arena, struct lock_type *after,
                         const struct lock_type *before)
{
    struct gone names, numbers;
    gone_start(&names, arena, &after->block.gone);
    gone_start(&numbers, arena, &after->gone_numbers);
    gone_know_all(&names, after->block.reserved);
    gone_know_all(&numbers, after->reserved_numbers);
    for (const struct lock_value *at = after->values; at != NULL; at = at->next) {
        gone_know(&names, at->name);
        gone_know(&numbers, at->number);
    }
    for (const struct lock_value *at = before->values; at != NULL; at = at->next) {
        gone_offer(&names, at->name);
        gone_offer(&numbers, at->number);
    }
    gone_offer_all(&names, before->block.reserved);
    gone_offer_all(&names, before->block.gone);
    gone_offer_all(&numbers, before->reserved_numbers);
    gone_offer_all(&numbers, before->gone_numbers);
    after->block.gone = lock_text_sort(after->block.gone);
    after->gone_numbers = lock_text_sort(after->gone_numbers);
}

static const char *key_of(struct arena *arena, const struct lock_type *type)
{
    return arena_printf(arena, "%s %s", type->kind, type->name);
}

static void inherit_types(struct heir *heir, const struct lock *before)
{
    struct map types; /* of the schema as it was when locked, not older ones that runs may have */
    map_init(&types, heir->arena);
    for (struct lock_type *type = before->types; type != NULL; type = type->next) {
        if (!type->is_old)
            map_add(&types, key_of(heir->arena, type), type);
    }
    for (struct lock_type *type = heir->after->types; type != NULL; type = type->next) {
        const struct lock_type *old = map_get(&types, key_of(heir->arena, type));
        map_add(&heir->types, arena_printf(heir->arena, "%s %s", type->name, type->version), type);
        if (old != NULL && type->values != NULL)
            inherit_enum(heir->arena, type, old);
        else if (old != NULL)
            inherit_block(heir->arena, &type->block, &old->block);
    }
}

/* Takes over the fields of an older version and the types inside, where those are still the
 * ones of the schema, and keeps the others as old ones. */
static struct lock_field *keep_fields(struct heir *heir, const struct lock_field *field);

static struct lock_type *keep_type(struct heir *heir, const struct lock_type *type)
{
    const char *key = arena_printf(heir->arena, "%s %s", type->name, type->version);
    struct lock_type *kept = map_get(&heir->types, key);
    if (kept != NULL)
        return kept;
    kept = arena_alloc(heir->arena, sizeof(*kept));
    *kept = *type;
    kept->is_old = true;
    kept->allows = NULL;
    kept->gone_numbers = kept->reserved_numbers = NULL; /* The type of the schema has them. */
    kept->block = (struct lock_block){.fields = keep_fields(heir, type->block.fields)};
    kept->next = heir->after->types;
    heir->after->types = kept;
    map_add(&heir->types, key, kept);
    return kept;
}

static struct lock_field *keep_fields(struct heir *heir, const struct lock_field *field)
{
    struct lock_field *first = NULL;
    struct lock_field **end = &first;
    for (; field != NULL; field = field->next) {
        struct lock_field *kept = arena_alloc(heir->arena, sizeof(*kept));
        *kept = *field;
        kept->next = NULL;
        if (field->target != NULL)
            kept->target = keep_type(heir, field->target);
        *end = kept;
        end = &kept->next;
    }
    return first;
}

/* Adds one to `list`, unless it is what the schema has (`own`, or NULL) or there already. */
static void keep_version(struct heir *heir, struct lock_version **list, const char *own,
                         const char *fingerprint, const struct lock_field *fields)
{
    if (own != NULL && strcmp(own, fingerprint) == 0)
        return;
    for (; *list != NULL; list = &(*list)->next) {
        if (strcmp((*list)->fingerprint, fingerprint) == 0)
            return;
    }
    *list = arena_alloc(heir->arena, sizeof(**list));
    (*list)->fingerprint = fingerprint;
    (*list)->fields = keep_fields(heir, fields);
}

static void keep_params(struct heir *heir, struct lock_job *job, const char *fingerprint,
                        const struct lock_field *fields)
{
    if (heir->live == NULL || live_has(heir->live, job->wire, fingerprint))
        keep_version(heir, &job->versions, job->fingerprint, fingerprint, fields);
}

/* A result that is kept for less is gone before the next but one version is deployed. */
enum { RESULT_KEPT_MS = 60000 };

/* What was remembered once stays: a lock knows no date at which the last result is gone. */
static void inherit_results(struct heir *heir, struct lock_job *after,
                            const struct lock_job *before)
{
    for (const struct lock_version *at = before->results; at != NULL; at = at->next)
        keep_version(heir, &after->results, after->result, at->fingerprint, at->fields);
    if (before->returns != NULL && before->result != NULL &&
        before->settings->keep_success_ms >= RESULT_KEPT_MS)
        keep_version(heir, &after->results, after->result, before->result, before->returns->fields);
}

static void inherit_job(struct heir *heir, struct lock_job *after, const struct lock_job *before)
{
    inherit_block(heir->arena, after->params, before->params);
    if (after->returns != NULL && before->returns != NULL)
        inherit_block(heir->arena, after->returns, before->returns);
    if (after->metadata != NULL && before->metadata != NULL)
        inherit_block(heir->arena, after->metadata, before->metadata);
    for (const struct lock_version *at = before->versions; at != NULL; at = at->next)
        keep_params(heir, after, at->fingerprint, at->fields);
    keep_params(heir, after, before->fingerprint, before->params->fields);
    inherit_results(heir, after, before);
    keep_allows(heir->arena, &after->allows, before->allows);
}

static void add_removed(struct heir *heir, const char *wire, const char *name)
{
    if (lock_job_find(heir->after, wire) != NULL)
        return;
    struct lock_removed *removed = arena_alloc(heir->arena, sizeof(*removed));
    *removed = (struct lock_removed){heir->after->removed, wire, name};
    heir->after->removed = removed;
}

/* By name, and under one name the schema's own first, then by version. */
static void sort_types(struct lock *lock)
{
    struct lock_type *old = NULL, *own = NULL;
    while (lock->types != NULL) {
        struct lock_type *type = lock->types;
        struct lock_type **list = type->is_old ? &old : &own;
        lock->types = type->next;
        type->next = *list;
        *list = type;
    }
    struct lock_type **end = &own;
    old = lock_sort(old, offsetof(struct lock_type, version));
    while (*end != NULL)
        end = &(*end)->next;
    *end = old;
    lock->types = lock_sort(own, offsetof(struct lock_type, name));
}

static bool are_few(const struct lock_version *version)
{
    unsigned count = 0;
    for (; version != NULL; version = version->next)
        count++;
    return count <= LIMIT_VERSIONS;
}

bool lock_inherit(struct arena *arena, struct lock *after, const struct lock *before,
                  const struct live *live, const char **ret_job)
{
    struct heir heir = {.arena = arena, .after = after, .live = live};
    map_init(&heir.types, arena);
    inherit_types(&heir, before);
    for (const struct lock_job *old = before->jobs; old != NULL; old = old->next) {
        struct lock_job *job = (struct lock_job *)(uintptr_t)lock_job_find(after, old->wire);
        if (job != NULL)
            inherit_job(&heir, job, old);
        else
            add_removed(&heir, old->wire, old->name);
    }
    for (const struct lock_removed *at = before->removed; at != NULL; at = at->next)
        add_removed(&heir, at->wire, at->name);
    after->removed = lock_sort(after->removed, offsetof(struct lock_removed, wire));
    sort_types(after);
    for (const struct lock_job *job = after->jobs; job != NULL; job = job->next) {
        *ret_job = job->wire;
        if (!are_few(job->versions) || !are_few(job->results))
            return false;
    }
    return true;
}
