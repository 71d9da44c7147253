/* culex__schema_text: a descriptor, first as a culex_schema_form, then by the codec as text. */
#include "core/schema_text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <culex/client.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "core/codec_encode.h"
#include "core/schema_form.h"

static_assert(offsetof(culex_struct_type, name) == 0 && offsetof(culex_enum_type, name) == 0 &&
                  offsetof(culex_user_type, name) == 0,
              "names_check reads them so");

/* The types that fields name, each once, in the order in which they are met. */
struct types {
    const void **of;
    size_t count;
};

struct writer {
    culex_arena *arena;
    bool has_docs;
    culex_status status; /* of the first failure; nothing counts behind it */
    struct types structs, enums, users;
    culex_buf scratch;
};

static void fail(struct writer *writer, culex_status status)
{
    if (writer->status == CULEX_OK)
        writer->status = status;
}

/* Zeroed; a failed writer may get NULL. */
static void *take(struct writer *writer, size_t count, size_t size)
{
    void *taken = culex_arena_alloc(writer->arena, count * size);
    if (taken == NULL)
        fail(writer, CULEX_ENOMEM);
    return taken;
}

static bool doc_take(const struct writer *writer, const char *doc, const char **ret_doc)
{
    *ret_doc = writer->has_docs ? doc : NULL;
    return *ret_doc != NULL;
}

/* ---- types ---- */

/* Fields are of a text of at most CULEX_SCHEMA_TEXT_MAX bytes, so types are few. */
static void types_add(struct writer *writer, struct types *types, const void *type)
{
    if (type == NULL) {
        fail(writer, CULEX_EINVAL);
        return;
    }
    for (size_t i = 0; i < types->count; i++)
        if (types->of[i] == type)
            return;
    if ((types->count & (types->count - 1)) == 0) { /* full: at 0, 1, 2, 4, ... */
        const void **more =
            take(writer, types->count == 0 ? 1 : types->count * 2, sizeof *types->of);
        if (more == NULL)
            return;
        if (types->count > 0)
            memcpy(more, types->of, types->count * sizeof *more);
        types->of = more;
    }
    types->of[types->count++] = type;
}

static void field_collect(struct writer *writer, const culex_field *field)
{
    if (field->kind == CULEX_KIND_STRUCT)
        types_add(writer, &writer->structs, field->struct_type);
    else if (field->kind == CULEX_KIND_ENUM)
        types_add(writer, &writer->enums, field->enum_type);
    else if (field->kind == CULEX_KIND_USER || field->user_type != NULL)
        types_add(writer, &writer->users, field->user_type);
}

static void struct_collect(struct writer *writer, const culex_struct_type *type)
{
    for (size_t i = 0; type != NULL && i < type->field_count && writer->status == CULEX_OK; i++)
        field_collect(writer, &type->fields[i]);
}

/* A text names types, so no two may share a name. All begin with theirs. */
static void names_check(struct writer *writer, const struct types *types)
{
    for (size_t i = 0; i < types->count && writer->status == CULEX_OK; i++) {
        const char *const *name = types->of[i];
        for (size_t j = 0; j < i; j++) {
            const char *const *other = types->of[j];
            if (*name == NULL || *other == NULL || strcmp(*name, *other) == 0)
                fail(writer, CULEX_EINVAL);
        }
    }
}

/* Structs met on the way stand behind, and have their turn; they may hold lists of each other. */
static void collect(struct writer *writer, const culex_job_type *type)
{
    struct_collect(writer, type->params);
    struct_collect(writer, type->result);
    struct_collect(writer, type->metadata);
    for (size_t i = 0; i < writer->structs.count && writer->status == CULEX_OK; i++)
        struct_collect(writer, writer->structs.of[i]);
    names_check(writer, &writer->structs);
    names_check(writer, &writer->enums);
    names_check(writer, &writer->users);
}

/* ---- fields ---- */

/* What the field has is shown to nobody. */
static bool is_hidden(const culex_field *field)
{
    return (field->flags & (CULEX_FIELD_SECRET | CULEX_FIELD_ENCRYPTED)) != 0;
}

static void flags_write(struct writer *writer, const culex_field *field,
                        struct culex_schema_field *form)
{
    const unsigned all = CULEX_FIELD_OPTIONAL | CULEX_FIELD_REQUIRED | CULEX_FIELD_SECRET |
                         CULEX_FIELD_MUST_UNDERSTAND | CULEX_FIELD_DEPRECATED |
                         CULEX_FIELD_ENCRYPTED | CULEX__FIELD_WITHHELD;
    unsigned flags = field->flags & all;
    if (field->def != NULL && is_hidden(field))
        flags |= CULEX__FIELD_WITHHELD;
    if ((flags & CULEX__FIELD_WITHHELD) != 0)
        flags &= ~(unsigned)CULEX_FIELD_OPTIONAL;
    uint32_t *list = take(writer, 8, sizeof *list);
    for (unsigned bit = 0; list != NULL && bit < 32; bit++)
        if ((flags >> bit & 1) != 0)
            list[form->flags_len++] = 1u << bit;
    form->flags = list;
}

static void type_name_write(const culex_field *field, struct culex_schema_field *form)
{
    form->type = field->kind == CULEX_KIND_STRUCT ? field->struct_type->name
                 : field->kind == CULEX_KIND_ENUM ? field->enum_type->name
                 : field->user_type != NULL       ? field->user_type->name
                                                  : NULL;
    form->has_type = form->type != NULL;
}

/* The text of the default, as if it alone were the field. */
static void default_write(struct writer *writer, const culex_field *field,
                          struct culex_schema_field *form)
{
    culex_field alone = *field;
    culex_error error;
    if (field->def == NULL || is_hidden(field))
        return;
    alone.offset = 0;
    alone.flags &= (unsigned)(CULEX_FIELD_MIN | CULEX_FIELD_MAX);
    culex_status status = culex__encode_field(&alone, field->def, &writer->scratch, &error);
    size_t len = writer->scratch.len;
    char *text = status == CULEX_OK ? take(writer, len + 1, 1) : NULL;
    if (status != CULEX_OK)
        fail(writer, status);
    if (text != NULL && len > 0)
        memcpy(text, writer->scratch.data, len);
    culex__buf_cut(&writer->scratch, 0);
    form->def = text;
    form->has_def = true;
}

static void bounds_write(const culex_field *field, bool is_user, struct culex_schema_field *form)
{
    form->has_count = field->count > 0;
    form->count = (uint32_t)field->count;
    form->has_min_len = field->min_len > 0;
    form->min_len = field->min_len;
    form->has_max_len = field->max_len > 0 && !is_user;
    form->max_len = form->has_max_len ? field->max_len : 0;
    form->has_min = (field->flags & CULEX_FIELD_MIN) != 0;
    form->min = form->has_min ? field->min : 0;
    form->has_max = (field->flags & CULEX_FIELD_MAX) != 0;
    form->max = form->has_max ? field->max : 0;
}

/* A string with an own type's name is what a reader makes of such a type. */
static void field_write(struct writer *writer, const culex_field *field,
                        struct culex_schema_field *form)
{
    if (field->name == NULL || field->wire == NULL || field->count > CULEX_LIST_MAX) {
        fail(writer, CULEX_EINVAL);
        return;
    }
    bool is_user = field->kind == CULEX_KIND_USER || field->user_type != NULL;
    form->name = field->name;
    form->has_wire = strcmp(field->name, field->wire) != 0;
    form->wire = form->has_wire ? field->wire : NULL;
    form->kind = is_user ? CULEX_KIND_USER : field->kind;
    form->shape = field->shape;
    form->has_doc = doc_take(writer, field->doc, &form->doc);
    type_name_write(field, form);
    flags_write(writer, field, form);
    bounds_write(field, is_user, form);
    default_write(writer, field, form);
}

static void struct_write(struct writer *writer, const culex_struct_type *type,
                         struct culex_schema_struct *form)
{
    struct culex_schema_field *fields = take(writer, type->field_count, sizeof *fields);
    form->name = type->name;
    form->fields = fields;
    form->fields_len = type->field_count;
    for (size_t i = 0; i < type->field_count && writer->status == CULEX_OK; i++)
        field_write(writer, &type->fields[i], &fields[i]);
}

/* ---- lists of types ---- */

static void structs_write(struct writer *writer, struct culex_schema_form *form)
{
    struct culex_schema_struct *forms = take(writer, writer->structs.count, sizeof *forms);
    for (size_t i = 0; i < writer->structs.count && writer->status == CULEX_OK; i++)
        struct_write(writer, writer->structs.of[i], &forms[i]);
    form->structs = forms;
    form->structs_len = writer->structs.count;
}

static void enum_write(struct writer *writer, const culex_enum_type *type,
                       struct culex_schema_enum *form)
{
    struct culex_schema_value *values = take(writer, type->value_count, sizeof *values);
    form->name = type->name;
    form->base = type->base;
    form->values = values;
    form->values_len = type->value_count;
    for (size_t i = 0; i < type->value_count && values != NULL; i++) {
        values[i] = (struct culex_schema_value){.name = type->values[i].name,
                                                .value = (int64_t)type->values[i].bits};
        values[i].has_doc = doc_take(writer, type->values[i].doc, &values[i].doc);
    }
}

static void enums_write(struct writer *writer, struct culex_schema_form *form)
{
    struct culex_schema_enum *forms = take(writer, writer->enums.count, sizeof *forms);
    for (size_t i = 0; i < writer->enums.count && writer->status == CULEX_OK; i++)
        enum_write(writer, writer->enums.of[i], &forms[i]);
    form->enums = forms;
    form->enums_len = writer->enums.count;
}

static void users_write(struct writer *writer, struct culex_schema_form *form)
{
    struct culex_schema_user *forms = take(writer, writer->users.count, sizeof *forms);
    for (size_t i = 0; i < writer->users.count && forms != NULL; i++) {
        const culex_user_type *type = writer->users.of[i];
        forms[i].name = type->name;
    }
    form->users = forms;
    form->users_len = writer->users.count;
}

/* ---- the job ---- */

static const char *const *by_write(struct writer *writer, const culex_struct_type *params,
                                   const uint16_t *by, size_t count)
{
    const char **names = take(writer, count, sizeof *names);
    for (size_t i = 0; i < count && names != NULL; i++) {
        if (by[i] >= params->field_count)
            fail(writer, CULEX_EINVAL);
        else
            names[i] = params->fields[by[i]].name;
    }
    return names;
}

static void unique_write(struct writer *writer, const culex_job_type *type,
                         struct culex_schema_form *form)
{
    const culex_unique *unique = &type->unique;
    uint32_t *states = take(writer, CULEX_RUN_STATE_COUNT, sizeof *states);
    form->has_unique = unique->is_unique;
    if (!unique->is_unique || states == NULL)
        return;
    form->unique = (struct culex_schema_unique){
        .by_all = unique->by_all,
        .by = by_write(writer, type->params, unique->by, unique->by_count),
        .by_len = unique->by_count,
        .states = states,
        .for_ms = unique->for_ms,
        .on_conflict = unique->on_conflict,
        .delay_ms = unique->delay_ms};
    for (unsigned state = 0; state < CULEX_RUN_STATE_COUNT; state++)
        if ((unique->while_states >> state & 1) != 0)
            states[form->unique.states_len++] = 1u << state;
}

static void limits_write(struct writer *writer, const culex_job_type *type,
                         struct culex_schema_form *form)
{
    struct culex_schema_limit *limits = take(writer, type->limit_count, sizeof *limits);
    for (size_t i = 0; i < type->limit_count && limits != NULL; i++) {
        const culex_limit *limit = &type->limits[i];
        limits[i] = (struct culex_schema_limit){
            .kind = limit->kind,
            .name = limit->name,
            .count = limit->count,
            .per_ms = limit->per_ms,
            .burst = limit->burst,
            .by = by_write(writer, type->params, limit->by, limit->by_count),
            .by_len = limit->by_count};
    }
    form->limits = limits;
    form->limits_len = type->limit_count;
}

static void needs_write(struct writer *writer, const culex_job_type *type,
                        struct culex_schema_form *form)
{
    struct culex_schema_need *needs = take(writer, type->need_count, sizeof *needs);
    for (size_t i = 0; i < type->need_count && needs != NULL; i++)
        needs[i] = (struct culex_schema_need){type->needs[i].name, type->needs[i].units};
    form->needs = needs;
    form->needs_len = type->need_count;
}

static void schedule_write(const culex_schedule *schedule, struct culex_schema_form *form)
{
    form->has_schedule = schedule->every_ms != 0 || schedule->cron != NULL;
    if (form->has_schedule)
        form->schedule = (struct culex_schema_schedule){.every_ms = schedule->every_ms,
                                                        .has_cron = schedule->cron != NULL,
                                                        .has_zone = schedule->zone != NULL,
                                                        .cron = schedule->cron,
                                                        .zone = schedule->zone,
                                                        .missed = schedule->missed,
                                                        .may_overlap = schedule->may_overlap,
                                                        .jitter_ms = schedule->jitter_ms};
}

static void retry_write(const culex_retry_policy *retry, struct culex_schema_form *form)
{
    form->retry = (struct culex_schema_retry){.max = retry->max,
                                              .for_ms = retry->for_ms,
                                              .backoff = retry->backoff,
                                              .base_ms = retry->base_ms,
                                              .factor = retry->factor,
                                              .cap_ms = retry->cap_ms,
                                              .steps_ms = retry->steps_ms,
                                              .steps_ms_len = retry->step_count,
                                              .jitter = retry->jitter,
                                              .jitter_ratio = retry->jitter_ratio};
}

static void settings_write(struct writer *writer, const culex_job_type *type, char *fingerprint,
                           struct culex_schema_form *form)
{
    snprintf(fingerprint, CULEX_SCHEMA_FINGERPRINT_LEN + 1, "%016" PRIx64, type->fingerprint);
    form->form = CULEX_SCHEMA_FORM;
    form->name = type->name;
    form->wire = type->wire;
    form->has_queue = type->queue != NULL;
    form->queue = type->queue;
    form->fingerprint = fingerprint;
    form->has_doc = doc_take(writer, type->doc, &form->doc);
    form->priority = type->priority;
    form->timeout_ms = type->timeout_ms;
    form->expires_ms = type->expires_ms;
    form->keep_success_ms = type->keep_success_ms;
    form->keep_failure_ms = type->keep_failure_ms;
    form->keep_log = type->keep_log;
    form->memory_bytes = type->memory_bytes;
    form->tags = type->tags;
    form->tags_len = type->tag_count;
}

static void parts_write(struct writer *writer, const culex_job_type *type,
                        struct culex_schema_form *form)
{
    retry_write(&type->retry, form);
    schedule_write(&type->schedule, form);
    unique_write(writer, type, form);
    limits_write(writer, type, form);
    needs_write(writer, type, form);
    collect(writer, type);
    struct_write(writer, type->params, &form->params);
    form->has_result = type->result != NULL;
    if (form->has_result)
        struct_write(writer, type->result, &form->result);
    form->has_metadata = type->metadata != NULL;
    if (form->has_metadata)
        struct_write(writer, type->metadata, &form->metadata);
    structs_write(writer, form);
    enums_write(writer, form);
    users_write(writer, form);
}

static culex_status text_write(const culex_job_type *type, bool is_retired, bool has_docs,
                               culex_buf *ret_text)
{
    struct writer writer = {.arena = culex_arena_create(), .has_docs = has_docs};
    struct culex_schema_form form = {.has_retired = is_retired, .retired = is_retired};
    char fingerprint[CULEX_SCHEMA_FINGERPRINT_LEN + 1];
    if (writer.arena == NULL)
        return CULEX_ENOMEM;
    culex_buf_init(&writer.scratch, CULEX_SCHEMA_TEXT_MAX);
    settings_write(&writer, type, fingerprint, &form);
    parts_write(&writer, type, &form);
    culex_status status = writer.status;
    if (status == CULEX_OK)
        status = culex_encode(&culex__schema_form_type, &form, ret_text, NULL);
    culex_buf_release(&writer.scratch);
    culex_arena_free(writer.arena);
    return status;
}

culex_status culex__schema_text(const culex_job_type *type, bool is_retired, char **ret_text,
                                size_t *ret_len)
{
    culex_buf text;
    *ret_text = NULL;
    if (type == NULL || type->descriptor_version != CULEX_DESCRIPTOR_VERSION ||
        type->params == NULL)
        return CULEX_EINVAL;
    culex_buf_init(&text, CULEX_SCHEMA_TEXT_MAX);
    culex_status status = text_write(type, is_retired, true, &text);
    if (status == CULEX_ELIMIT)
        status = text_write(type, is_retired, false, &text);
    if (status != CULEX_OK) {
        culex_buf_release(&text);
        return status;
    }
    *ret_text = text.data;
    *ret_len = text.len;
    return CULEX_OK;
}
