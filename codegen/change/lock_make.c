/* lock_make.c - a lock from the model of checked schemas. */
#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "fingerprint.h"
#include "lock.h"
#include "setting.h"

struct maker {
    struct compilation *compilation;
    struct arena *arena;
    struct lock *lock;
    struct map types; /* ir_enum, ir_user or ir_struct by name -> lock_type */
};

static const char *hex(struct arena *arena, uint64_t number)
{
    return arena_printf(arena, "%016" PRIx64, number);
}

static const char *decimal(struct arena *arena, struct wide number)
{
    char text[WIDE_TEXT_BYTES];
    wide_format(number, text);
    return arena_copy(arena, text, strlen(text));
}

static const char *value_text(struct arena *arena, const struct ir_value *value)
{
    char *at;
    switch (value->kind) {
    case VALUE_NONE:
        return NULL;
    case VALUE_BOOL:
        return value->number != 0 ? "true" : "false";
    case VALUE_CHAR:
    case VALUE_TIME:
    case VALUE_DURATION:
        return arena_printf(arena, "%" PRId64, value->number);
    case VALUE_BYTES:
        at = arena_alloc(arena, value->len * 2 + 1);
        for (size_t i = 0; i < value->len; i++) {
            at[2 * i] = "0123456789abcdef"[(unsigned char)value->text[i] >> 4];
            at[2 * i + 1] = "0123456789abcdef"[(unsigned char)value->text[i] & 15];
        }
        return at;
    default:
        return value->text;
    }
}

static struct lock_allow *make_allows(struct arena *arena, const struct ast_attr *attr)
{
    struct lock_allow *first = NULL;
    struct lock_allow **end = &first;
    for (; attr != NULL; attr = attr->next) {
        if (strcmp(attr->name.text, "allow_breaking") != 0)
            continue;
        struct lock_allow *allow = arena_alloc(arena, sizeof(*allow));
        assert(attr->args != NULL && attr->args->next != NULL);
        allow->id = attr->args->text;
        allow->reason = attr->args->next->text;
        *end = allow;
        end = &allow->next;
    }
    return lock_sort(first, offsetof(struct lock_allow, id));
}

static struct lock_text *make_texts(struct arena *arena, const struct literal *literal,
                                    enum literal_kind kind)
{
    struct lock_text *first = NULL;
    struct lock_text **end = &first;
    for (; literal != NULL; literal = literal->next) {
        if (literal->kind != kind)
            continue;
        lock_text_add(arena, end,
                      kind == LITERAL_INT ? decimal(arena, literal->integer) : literal->text);
        end = &(*end)->next;
    }
    return first;
}

/* ---- fields ---- */

static void make_ref(struct maker *maker, const struct ir_field *field, struct lock_field *made)
{
    if (field->enumeration == NULL && field->structure == NULL && field->user == NULL)
        return;
    made->ref = field->enumeration != NULL ? field->enumeration->name
                : field->user != NULL      ? field->user->name
                                           : field->structure->name;
    made->target = map_get(&maker->types, made->ref);
    assert(made->target != NULL); /* Types are made before the fields that use them. */
    made->version = made->target->version;
}

static const char *presence_of(const struct ir_field *field)
{
    if (field->shape == SHAPE_LIST)
        return "list";
    if (field->is_optional)
        return "optional";
    return field->value.kind != VALUE_NONE ? "default" : "required";
}

static const struct literal *was_of(const struct ast_attr *attr)
{
    while (attr != NULL && strcmp(attr->name.text, "was") != 0)
        attr = attr->next;
    return attr == NULL ? NULL : attr->args;
}

static struct lock_field *make_field(struct maker *maker, const struct ir_field *field)
{
    static const char *const shapes[] = {"single", "list", "array"};
    struct arena *arena = maker->arena;
    struct lock_field *made = arena_alloc(arena, sizeof(*made));
    made->wire = field->wire;
    made->name = field->name;
    made->type = ir_kinds[field->kind].word;
    made->shape = shapes[field->shape];
    made->presence = presence_of(field);
    made->default_text = value_text(arena, &field->value);
    made->min = value_text(arena, &field->min);
    made->max = value_text(arena, &field->max);
    made->deprecated = field->deprecated;
    made->count = field->count;
    made->min_len = field->min_len;
    made->max_len = field->max_len;
    made->is_secret = field->is_secret;
    made->is_encrypted = field->is_encrypted;
    made->must_understand = field->must_understand;
    made->span = field->span;
    made->allows = make_allows(arena, field->attrs);
    made->was = make_texts(arena, was_of(field->attrs), LITERAL_STRING);
    make_ref(maker, field, made);
    lock_field_derive(made);
    return made;
}

static void make_block(struct maker *maker, const struct ir_field *field,
                       const struct literal *reserved, struct lock_block *block)
{
    struct lock_field **end = &block->fields;
    for (; field != NULL; field = field->next) {
        *end = make_field(maker, field);
        end = &(*end)->next;
    }
    block->reserved = lock_text_sort(make_texts(maker->arena, reserved, LITERAL_STRING));
}

/* ---- types ---- */

static void type_add(struct maker *maker, struct lock_type *type)
{
    map_add(&maker->types, type->name, type); /* In two files it would be a collision in C. */
    type->next = maker->lock->types;
    maker->lock->types = type;
}

static void make_enum(struct maker *maker, const struct ir_enum *type)
{
    struct arena *arena = maker->arena;
    struct lock_type *made = arena_alloc(arena, sizeof(*made));
    struct lock_value **end = &made->values;
    made->name = type->name;
    made->version = hex(arena, type->fingerprint);
    made->kind = "enum";
    made->c = type->c;
    made->base = ir_kinds[type->base].word;
    made->is_closed = type->is_closed;
    made->span = type->decl->name.span;
    made->allows = make_allows(arena, type->attrs);
    made->block.reserved = lock_text_sort(make_texts(arena, type->decl->reserved, LITERAL_STRING));
    made->reserved_numbers = lock_text_sort(make_texts(arena, type->decl->reserved, LITERAL_INT));
    for (const struct ir_enum_value *at = type->values; at != NULL; at = at->next) {
        struct lock_value *value = arena_alloc(arena, sizeof(*value));
        value->name = at->name;
        value->number = decimal(arena, at->number);
        value->deprecated = at->deprecated;
        value->allows = make_allows(arena, at->attrs);
        value->span = at->span;
        *end = value;
        end = &value->next;
    }
    type_add(maker, made);
}

static void make_struct(struct maker *maker, const struct ir_struct *type)
{
    struct lock_type *made = arena_alloc(maker->arena, sizeof(*made));
    made->name = type->name;
    made->version = hex(maker->arena, type->fingerprint);
    made->kind = "struct";
    made->c = type->c;
    made->span = type->decl->name.span;
    made->allows = make_allows(maker->arena, type->decl->attrs);
    make_block(maker, type->fields, type->decl->fields.reserved, &made->block);
    type_add(maker, made);
}

static void make_user(struct maker *maker, const struct ir_user *type)
{
    struct lock_type *made = arena_alloc(maker->arena, sizeof(*made));
    made->name = type->name;
    made->version = hex(maker->arena, type->fingerprint);
    made->kind = ir_kinds[IR_USER].word;
    made->c = type->c;
    made->base = ir_kinds[IR_STRING].word;
    made->span = type->decl->name.span;
    made->allows = make_allows(maker->arena, type->decl->attrs);
    type_add(maker, made);
}

/* ---- jobs ---- */

static int64_t ms(int64_t ns)
{
    return lock_in_units(ns, NS_PER_MS);
}

/* The names on the wire of the params that `by` names. */
static const char *make_key(struct maker *maker, const struct ir_job *job,
                            const struct ast_names *by)
{
    struct buf key = {0};
    buf_text(&key, "");
    for (; by != NULL; by = by->next) {
        const struct ir_field *field = job->params;
        while (field != NULL && strcmp(field->name, by->name.text) != 0)
            field = field->next;
        const char *wire = field != NULL ? field->wire : by->name.text;
        buf_printf(&key, "%s%s", key.len > 0 ? "," : "", wire);
    }
    const char *text = arena_copy(maker->arena, key.data, key.len);
    buf_release(&key);
    return text;
}

/* What is as it would be without a word is left out. */
static const char *make_spread(struct arena *arena, const char *text,
                               const struct ir_spread *spread, bool usually_overlaps)
{
    int64_t jitter = ms(spread->jitter_ns);
    if (jitter != 0)
        text = arena_printf(arena, "%s jitter %" PRId64 " ms", text, jitter);
    return spread->may_overlap == usually_overlaps ? text
                                                   : arena_printf(arena, "%s overlap allow", text);
}

static const char *make_schedule(struct arena *arena, const struct ir_settings *settings)
{
    const struct ir_cron *cron = settings->cron;
    const struct ir_every *every = settings->every;
    if (every != NULL)
        return make_spread(arena,
                           arena_printf(arena, "every %" PRId64 " ms", ms(every->interval_ns)),
                           &every->spread, false);
    if (cron == NULL)
        return NULL;
    const char *text =
        arena_printf(arena, "cron %s tz %s missed %s", cron->fields, cron->zone, cron->missed);
    return make_spread(arena, text, &cron->spread, strcmp(cron->missed, "all") == 0);
}

static const char *make_unique(struct arena *arena, const struct ir_unique *unique)
{
    const char *text = unique->states != NULL ? "while" : "";
    for (const struct ast_names *at = unique->states; at != NULL; at = at->next)
        text = arena_printf(arena, "%s %s", text, at->name.text);
    if (unique->for_ns >= 0)
        text = arena_printf(arena, "for %" PRId64 " ms%s%s", ms(unique->for_ns),
                            unique->states != NULL ? " " : "", text);
    if (unique->delay_ns > 0)
        text = arena_printf(arena, "debounce %" PRId64 " ms %s", ms(unique->delay_ns), text);
    return arena_printf(arena, "%s on_conflict %s", text, unique->on_conflict);
}

static const char *make_unique_key(struct maker *maker, const struct ir_job *job)
{
    const struct ir_unique *unique = job->settings.unique;
    const char *key = make_key(maker, job, unique->by);
    return unique->is_by_all ? arena_printf(maker->arena, "all of %s", key) : key;
}

static struct lock_limit *make_limits(struct maker *maker, const struct ir_job *job)
{
    struct lock_limit *first = NULL, **end = &first;
    for (const struct ir_limit *from = job->settings.limits; from != NULL; from = from->next) {
        struct lock_limit *made = arena_alloc(maker->arena, sizeof(*made));
        *made = (struct lock_limit){.kind = setting_word(from->kind),
                                    .key = make_key(maker, job, from->by),
                                    .count = from->count,
                                    .per_ms = ms(from->per_ns),
                                    .burst = from->burst};
        *end = made;
        end = &made->next;
    }
    for (const struct ir_need *from = job->settings.needs; from != NULL; from = from->next) {
        struct lock_limit *made = arena_alloc(maker->arena, sizeof(*made));
        *made = (struct lock_limit){.kind = setting_word(SETTING_NEEDS),
                                    .key = from->name,
                                    .count = from->units,
                                    .per_ms = -1,
                                    .burst = -1};
        *end = made;
        end = &made->next;
    }
    return first;
}

static const char *make_steps(struct arena *arena, const struct literal *step)
{
    const char *separator = "";
    struct buf steps = {0};
    for (; step != NULL; step = step->next, separator = ", ")
        buf_printf(&steps, "%s%" PRId64 " ms", separator, ms(step->duration_ns));
    const char *text = arena_copy(arena, steps.data, steps.len);
    buf_release(&steps);
    return text;
}

/* When a run that failed is tried again. */
static const char *make_backoff(struct arena *arena, const struct ir_retry *retry)
{
    if (retry->max == 0)
        return NULL;
    const char *delays = retry->steps != NULL
                             ? make_steps(arena, retry->steps)
                             : arena_printf(arena, "%" PRId64 " ms", ms(retry->base_ns));
    const char *cap =
        retry->cap_ns < 0 ? "" : arena_printf(arena, " cap %" PRId64 " ms", ms(retry->cap_ns));
    const char *factor =
        retry->factor == NULL ? "" : arena_printf(arena, " factor %s", retry->factor);
    const char *jitter = retry->jitter == JITTER_NONE
                             ? ""
                             : arena_printf(arena, ", jitter %s", ir_jitter_text(retry));
    return arena_printf(arena, "%s %s%s%s%s", ir_backoff_words[retry->backoff], delays, factor, cap,
                        jitter);
}

static struct lock_settings *make_settings(struct maker *maker, const struct ir_job *job)
{
    const struct ir_settings *from = &job->settings;
    struct lock_settings *made = arena_alloc(maker->arena, sizeof(*made));
    *made = (struct lock_settings){
#define LOCKED(member, key, unit, judge, rule, suffix, text)                                       \
    .key = lock_in_units(from->member, unit),
#include "settings.def"
        .queue = from->queue,
        .backoff = make_backoff(maker->arena, &from->retry),
        .schedule = make_schedule(maker->arena, from),
        .limits = make_limits(maker, job),
    };
    if (from->unique != NULL) {
        made->unique = make_unique(maker->arena, from->unique);
        made->unique_key = make_unique_key(maker, job);
    }
    return made;
}

static void job_add(struct maker *maker, struct lock_job *job)
{
    const struct lock_job *other = map_add(&maker->lock->wires, job->wire, job);
    job->next = maker->lock->jobs;
    maker->lock->jobs = job;
    if (other == NULL)
        return;
    diag_report(&maker->compilation->sink, DIAG_DUPLICATE_WIRE_NAME, job->span,
                "another file has a job that is also '%s' in the queue", job->wire);
    diag_note(&maker->compilation->sink, other->span, "it is here");
}

static void make_job(struct maker *maker, const struct module *module, const struct ir_job *job)
{
    struct arena *arena = maker->arena;
    struct lock_job *made = arena_alloc(arena, sizeof(*made));
    made->wire = job->wire;
    made->name = job->qualified;
    made->c = job->c;
    made->package = module->package;
    made->was = make_texts(arena, job->was, LITERAL_STRING);
    made->is_retired = job->is_retired;
    made->deprecated = job->deprecated;
    made->fingerprint = hex(arena, job->fingerprint);
    made->settings = make_settings(maker, job);
    made->span = job->decl->name.span;
    made->allows = make_allows(arena, job->attrs);
    made->params = arena_alloc(arena, sizeof(*made->params));
    make_block(maker, job->params, job->decl->fields.reserved, made->params);
    if (job->result_c != NULL) {
        made->result = hex(arena, fingerprint_fields(job->result));
        made->returns = arena_alloc(arena, sizeof(*made->returns));
        make_block(maker, job->result, job->decl->returns.reserved, made->returns);
    }
    if (job->metadata_c != NULL) {
        made->metadata = arena_alloc(arena, sizeof(*made->metadata));
        make_block(maker, job->metadata, job->decl->metadata.reserved, made->metadata);
    }
    job_add(maker, made);
}

/* ---- chains ---- */

static void make_chain(struct maker *maker, const struct ir_chain *chain)
{
    struct lock_chain *made = arena_alloc(maker->arena, sizeof(*made));
    struct lock_text **end = &made->steps;
    made->name = chain->qualified;
    made->span = chain->decl->name.span;
    for (const struct ir_step *step = chain->steps; step != NULL; step = step->next) {
        lock_text_add(maker->arena, end, step->job->wire);
        end = &(*end)->next;
    }
    made->next = maker->lock->chains;
    maker->lock->chains = made;
}

static void make_module(struct maker *maker, const struct module *module)
{
    for (const struct ir_enum *type = module->ir->enums; type != NULL; type = type->next)
        make_enum(maker, type);
    for (const struct ir_user *type = module->ir->users; type != NULL; type = type->next)
        make_user(maker, type);
    for (const struct ir_struct *type = module->ir->structs; type != NULL; type = type->next)
        make_struct(maker, type);
    for (const struct ir_job *job = module->ir->jobs; job != NULL; job = job->next)
        make_job(maker, module, job);
    for (const struct ir_chain *chain = module->ir->chains; chain != NULL; chain = chain->next)
        make_chain(maker, chain);
}

struct lock *lock_make(struct compilation *compilation)
{
    struct maker maker = {.compilation = compilation, .arena = &compilation->arena};
    maker.lock = arena_alloc(maker.arena, sizeof(*maker.lock));
    maker.lock->format = LOCK_FORMAT;
    map_init(&maker.types, maker.arena);
    map_init(&maker.lock->wires, maker.arena);
    for (const struct module *at = compilation->modules; at != NULL; at = at->next) {
        if (maker.lock->span.source == NULL && at->importer == NULL)
            maker.lock->span = (struct span){at->source, 0, 0};
        make_module(&maker, at);
    }
    maker.lock->types = lock_sort(maker.lock->types, offsetof(struct lock_type, name));
    maker.lock->jobs = lock_sort(maker.lock->jobs, offsetof(struct lock_job, wire));
    maker.lock->chains = lock_sort(maker.lock->chains, offsetof(struct lock_chain, name));
    return maker.lock;
}
