/* lock_read.c - a lock from its text: records by the tables of lock_json.c, then their links. */
#include <stdio.h>
#include <string.h>

#include "json_in.h"
#include "limits.h"
#include "lock_json.h"
#include "setting.h"

struct reader {
    struct arena *arena;
    struct diag_sink *sink;
    struct source *source;
    struct json_in in;
    struct lock *lock;
    struct map types; /* "name version" -> lock_type */
    bool is_bad;      /* reported */
};

/* Only the first fault is reported: later ones mostly follow from it. */
static bool report(struct reader *reader, struct span span, const char *fault, const char *help)
{
    if (reader->is_bad)
        return false;
    reader->is_bad = true;
    diag_report(reader->sink, DIAG_BAD_LOCK, span, "this is no whole lock: %s", fault);
    diag_help(reader->sink, "%s", help);
    return false;
}

static bool fail_at(struct reader *reader, struct span span, const char *fault)
{
    return report(reader, span, fault,
                  "take the last good one from version control, then run culexc lock");
}

static bool is_conflict(const struct reader *reader, struct span span)
{
    const char *at = reader->source->text + span.offset;
    return reader->source->size - span.offset >= 7 && (*at == '<' || *at == '=' || *at == '>');
}

static struct span span_here(const struct reader *reader)
{
    return (struct span){reader->source, (uint32_t)json_in_offset(&reader->in), 1};
}

static bool fail(struct reader *reader, const char *fault)
{
    struct span span = span_here(reader);
    if (reader->in.is_bad && is_conflict(reader, span))
        return report(reader, span, "a conflict of a merge was left in it",
                      "keep the versions and results of both sides, then run culexc lock");
    return fail_at(reader, span, reader->in.is_bad ? reader->in.fault : fault);
}

/* ---- records ---- */

static void *read_record(struct reader *reader, const struct lock_record *record);

static bool read_text(struct reader *reader, const char **ret_text)
{
    char *text;
    size_t len;
    if (!json_in_string(&reader->in, reader->arena, &text, &len))
        return fail(reader, "");
    *ret_text = text;
    return strlen(text) == len || fail(reader, "a text has a NUL in it");
}

struct item {
    struct item *next;
};

static void *read_item(struct reader *reader, const struct lock_member *member)
{
    if (member->kind == LOCK_ITEMS)
        return read_record(reader, member->record);
    struct lock_text *item = arena_alloc(reader->arena, sizeof(*item));
    return read_text(reader, &item->text) ? item : NULL;
}

static bool read_items(struct reader *reader, const struct lock_member *member, struct item **end)
{
    bool is_first = true;
    size_t count = 0;
    if (!json_in_expect(&reader->in, '['))
        return fail(reader, "");
    while (json_in_more(&reader->in, ']', &is_first)) {
        if (++count > member->max)
            return fail(reader, "a list is longer than any schema allows");
        struct item *item = read_item(reader, member);
        if (item == NULL)
            return false;
        *end = item;
        end = &item->next;
    }
    return !reader->in.is_bad || fail(reader, "");
}

static bool read_member(struct reader *reader, const struct lock_member *member, void *place)
{
    switch (member->kind) {
    case LOCK_TEXT:
        return read_text(reader, place);
    case LOCK_NUMBER:
        if (!json_in_number(&reader->in, place))
            return fail(reader, "");
        return *(int64_t *)place >= 0 || fail(reader, "a number is negative");
    case LOCK_BOOL:
        return json_in_bool(&reader->in, place) || fail(reader, "");
    case LOCK_TEXTS:
    case LOCK_ITEMS:
        return read_items(reader, member, place);
    case LOCK_RECORD:
        break;
    }
    *(void **)place = read_record(reader, member->record);
    return *(void **)place != NULL;
}

/* The member that comes next; the bit of each in *seen. */
static const struct lock_member *next_member(struct reader *reader,
                                             const struct lock_record *record, unsigned *seen)
{
    const char *name = "";
    unsigned bit = 1;
    const struct lock_member *at = record->members;
    if (!read_text(reader, &name))
        return NULL;
    for (; at->name != NULL && strcmp(at->name, name) != 0; at++)
        bit <<= 1;
    if (at->name == NULL || (*seen & bit) != 0) {
        fail(reader, at->name == NULL ? "a member that it does not have" : "a member comes twice");
        return NULL;
    }
    *seen |= bit;
    if (!json_in_expect(&reader->in, ':'))
        fail(reader, "");
    return reader->is_bad ? NULL : at;
}

static bool is_whole(struct reader *reader, const struct lock_record *record, unsigned seen)
{
    for (const struct lock_member *at = record->members; at->name != NULL; at++, seen >>= 1) {
        if (!at->is_required || (seen & 1) != 0)
            continue;
        return fail(reader, arena_printf(reader->arena, "'%s' is missing before this", at->name));
    }
    return true;
}

static void *read_record(struct reader *reader, const struct lock_record *record)
{
    char *base = arena_alloc(reader->arena, record->size);
    bool is_first = true;
    unsigned seen = 0;
    for (const struct lock_member *at = record->members; at->name != NULL; at++) {
        if (at->kind == LOCK_NUMBER)
            *(int64_t *)(void *)(base + at->offset) = -1;
    }
    if (!json_in_expect(&reader->in, '{'))
        return fail(reader, ""), NULL;
    if (record->span != 0) {
        struct span span = span_here(reader);
        memcpy(base + record->span, &span, sizeof(span));
    }
    while (json_in_more(&reader->in, '}', &is_first)) {
        const struct lock_member *member = next_member(reader, record, &seen);
        if (member == NULL || !read_member(reader, member, base + member->offset))
            return NULL;
    }
    if (reader->in.is_bad)
        return fail(reader, ""), NULL;
    return is_whole(reader, record, seen) ? base : NULL;
}

/* ---- what they mean together ---- */

static bool link_fields(struct reader *reader, struct lock_field *field)
{
    for (; field != NULL; field = field->next) {
        const char *fault = lock_field_derive(field);
        if (fault != NULL)
            return fail_at(reader, field->span, fault);
        if (field->ref == NULL)
            continue;
        field->target = map_get(&reader->types,
                                arena_printf(reader->arena, "%s %s", field->ref, field->version));
        if (field->target == NULL || strcmp(field->target->kind, field->type) != 0)
            return fail_at(reader, field->span, "the type of this field is not in it");
    }
    return true;
}

static bool add_types(struct reader *reader)
{
    for (struct lock_type *type = reader->lock->types; type != NULL; type = type->next) {
        bool is_struct = strcmp(type->kind, "struct") == 0;
        bool is_enum = strcmp(type->kind, "enum") == 0;
        if (!is_enum && !is_struct && strcmp(type->kind, "user") != 0)
            return fail_at(reader, type->span, "a type is an enum, a struct or one of the user");
        if (is_struct == (type->base != NULL) || is_struct != (type->block.fields != NULL) ||
            (!is_enum && type->values != NULL))
            return fail_at(reader, type->span, "the type has the members of another kind of type");
        if (map_add(&reader->types, arena_printf(reader->arena, "%s %s", type->name, type->version),
                    type) != NULL)
            return fail_at(reader, type->span, "this type is in it twice");
    }
    return true;
}

/* Structs inside each other; more than a payload can have is a cycle or a lie. */
static unsigned measure(const struct lock_type *type, unsigned left)
{
    struct lock_type *own = (struct lock_type *)(uintptr_t)type;
    unsigned depth = 0;
    if (left == 0 || own->depth > 0)
        return own->depth > 0 ? own->depth : LIMIT_PAYLOAD_DEPTH + 1;
    for (const struct lock_field *field = type->block.fields; field != NULL; field = field->next) {
        unsigned inner = field->kind == IR_STRUCT ? measure(field->target, left - 1) : 0;
        depth = inner > depth ? inner : depth;
        if (depth > LIMIT_PAYLOAD_DEPTH)
            return depth;
    }
    own->depth = depth + 1;
    return own->depth;
}

static bool link_types(struct reader *reader)
{
    for (struct lock_type *type = reader->lock->types; type != NULL; type = type->next) {
        if (!link_fields(reader, type->block.fields))
            return false;
    }
    for (struct lock_type *type = reader->lock->types; type != NULL; type = type->next) {
        if (measure(type, LIMIT_PAYLOAD_DEPTH) > LIMIT_PAYLOAD_DEPTH)
            return fail_at(reader, type->span, "structs are nested too deep, or in themselves");
    }
    return true;
}

static bool link_versions(struct reader *reader, const struct lock_version *version)
{
    while (version != NULL && link_fields(reader, version->fields))
        version = version->next;
    return version == NULL;
}

/* A lock from before a setting was in the language lacks its number: each job had the default. */
static void fill_settings(struct lock_settings *settings)
{
    struct ir_settings unset = settings_default(settings->schedule != NULL);
#define LOCKED(member, key, unit, judge, rule, suffix, text)                                       \
    if (settings->key < 0)                                                                         \
        settings->key = lock_in_units(unset.member, unit);
#include "settings.def"
}

static bool link_jobs(struct reader *reader)
{
    struct map *wires = &reader->lock->wires;
    map_init(wires, reader->arena);
    for (struct lock_job *job = reader->lock->jobs; job != NULL; job = job->next) {
        if (map_add(wires, job->wire, job) != NULL)
            return fail_at(reader, job->span, "this job is in it twice");
        if (!link_fields(reader, job->params->fields) ||
            (job->returns != NULL && !link_fields(reader, job->returns->fields)) ||
            (job->metadata != NULL && !link_fields(reader, job->metadata->fields)))
            return false;
        fill_settings(job->settings);
        if (!link_versions(reader, job->versions) || !link_versions(reader, job->results))
            return false;
    }
    return true;
}

/* The format is read first, so that nothing of a later format is misread. */
static bool check_format(struct reader *reader)
{
    struct json_in in = reader->in;
    struct arena scratch = {0};
    char *name;
    size_t len;
    int64_t format = 0;
    bool is_known = json_in_expect(&in, '{') && json_in_string(&in, &scratch, &name, &len) &&
                    strcmp(name, "lock") == 0 && json_in_expect(&in, ':') &&
                    json_in_number(&in, &format);
    arena_release(&scratch);
    if (!is_known || format <= LOCK_FORMAT)
        return true; /* Malformed text is reported where it is read. */
    reader->is_bad = true;
    diag_report(reader->sink, DIAG_LOCK_TOO_NEW, (struct span){reader->source, 0, 1},
                "the lock has format %lld, and this culexc reads %d", (long long)format,
                LOCK_FORMAT);
    diag_help(reader->sink, "use the culexc that wrote it, or a later one");
    return false;
}

struct lock *lock_read(struct diag_sink *sink, const char *path, const char *text, size_t size)
{
    struct reader reader = {.arena = sink->arena, .sink = sink};
    reader.source = source_create(reader.arena, path, text, size);
    reader.source->index = UINT32_MAX; /* Behind what is said of the schemas. */
    reader.in = json_in_text(reader.source->text, reader.source->size);
    map_init(&reader.types, reader.arena);
    if (!check_format(&reader))
        return NULL;
    reader.lock = read_record(&reader, &lock_record_root);
    if (reader.lock == NULL)
        return NULL;
    if (reader.lock->format != LOCK_FORMAT)
        return fail(&reader, "'lock' must come first"), NULL;
    if (!json_in_at_end(&reader.in))
        return fail(&reader, "there is more behind its end"), NULL;
    return add_types(&reader) && link_types(&reader) && link_jobs(&reader) ? reader.lock : NULL;
}
