#include "ir_json.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "json_out.h"
#include "setting.h"

static void write_doc(struct json_out *json, const char *doc)
{
    json_text(json, "doc", doc == NULL ? "" : doc);
}

static void write_wide(struct json_out *json, const char *name, struct wide value)
{
    char text[WIDE_TEXT_BYTES];
    wide_format(value, text);
    json_text(json, name, text);
}

/* -1 stands for "not set". */
static void write_number(struct json_out *json, const char *name, int64_t value)
{
    if (value < 0)
        json_null(json, name);
    else
        json_number(json, name, value);
}

static void write_decimal(struct json_out *json, const char *name, int64_t value)
{
    if (value < 0)
        json_null(json, name);
    else
        json_decimal(json, name, value);
}

static void write_hex(struct json_out *json, const char *name, const char *bytes, size_t len)
{
    struct buf hex = {0};
    buf_text(&hex, "");
    for (size_t i = 0; i < len; i++)
        buf_printf(&hex, "%02x", (unsigned char)bytes[i]);
    json_text(json, name, hex.data);
    buf_release(&hex);
}

static void write_value(struct json_out *json, const char *name, const struct ir_value *value)
{
    if (value->kind == VALUE_NONE) {
        json_null(json, name);
        return;
    }
    json_open(json, name, '{');
    switch (value->kind) {
    case VALUE_BOOL:
        json_bool(json, "bool", value->number != 0);
        break;
    case VALUE_INT:
        json_text(json, "int", value->text);
        break;
    case VALUE_FLOAT:
        json_text(json, "float", value->text);
        break;
    case VALUE_CHAR:
        json_number(json, "char", value->number);
        break;
    case VALUE_BYTES:
        write_hex(json, "bytes", value->text, value->len);
        break;
    case VALUE_UUID:
        json_text(json, "uuid", value->text);
        break;
    case VALUE_TIME:
        json_decimal(json, "time_ns", value->number);
        break;
    case VALUE_DURATION:
        json_decimal(json, "duration_ns", value->number);
        break;
    case VALUE_ENUM:
        json_text(json, "enum", value->text);
        json_text(json, "c", value->c);
        json_text(json, "value", value->decimal);
        break;
    case VALUE_STRING:
    case VALUE_NONE:
        json_text_len(json, "string", value->text, value->len);
        break;
    }
    json_close(json, '}');
}

static void write_literal(struct json_out *json, const struct literal *literal)
{
    switch (literal->kind) {
    case LITERAL_BYTES:
        write_hex(json, NULL, literal->text, literal->len);
        break;
    case LITERAL_INT:
        write_wide(json, NULL, literal->integer);
        break;
    default:
        json_text_len(json, NULL, literal->text, literal->len);
        break;
    }
}

/* Only attributes that the language leaves free travel by name. */
static void write_attrs(struct json_out *json, const struct ast_attr *attrs)
{
    json_open(json, "attrs", '{');
    for (; attrs != NULL; attrs = attrs->next) {
        if (attrs->name.text[0] != 'x' || attrs->name.text[1] != '_')
            continue;
        json_open(json, attrs->name.text, '[');
        for (const struct literal *arg = attrs->args; arg != NULL; arg = arg->next)
            write_literal(json, arg);
        json_close(json, ']');
    }
    json_close(json, '}');
}

static void write_ref(struct json_out *json, const struct ir_field *field)
{
    if (field->enumeration == NULL && field->structure == NULL && field->user == NULL) {
        json_null(json, "ref");
        return;
    }
    json_open(json, "ref", '{');
    if (field->enumeration != NULL) {
        json_text(json, "name", field->enumeration->name);
        json_text(json, "c", field->enumeration->c);
        json_text(json, "type_symbol", field->enumeration->type_symbol);
        json_text(json, "base", ir_kinds[field->enumeration->base].word);
    } else if (field->user != NULL) {
        json_text(json, "name", field->user->name);
        json_text(json, "c", field->user->c);
        json_text(json, "type_symbol", field->user->type_symbol);
        json_text(json, "base", NULL);
    } else {
        json_text(json, "name", field->structure->name);
        json_text(json, "c", field->structure->c);
        json_text(json, "type_symbol", field->structure->type_symbol);
        json_text(json, "base", NULL);
    }
    json_close(json, '}');
}

static void write_field(struct json_out *json, const struct ir_field *field)
{
    static const char *const shapes[] = {"single", "list", "array"};
    json_open(json, NULL, '{');
    json_text(json, "name", field->name);
    json_text(json, "c", field->c);
    json_text(json, "wire", field->wire);
    write_doc(json, field->doc);
    json_number(json, "line", field->line);
    json_text(json, "kind", ir_kinds[field->kind].word);
    write_ref(json, field);
    json_text(json, "shape", shapes[field->shape]);
    write_number(json, "count", field->count);
    json_bool(json, "optional", field->is_optional);
    json_bool(json, "required", field->is_required);
    json_text(json, "has_c", field->has_c);
    json_text(json, "len_c", field->len_c);
    json_text(json, "set_c", field->set_c);
    write_value(json, "default", &field->value);
    write_number(json, "min_len", field->min_len);
    write_number(json, "max_len", field->max_len);
    write_value(json, "min", &field->min);
    write_value(json, "max", &field->max);
    json_bool(json, "secret", field->is_secret);
    json_bool(json, "encrypted", field->is_encrypted);
    json_bool(json, "must_understand", field->must_understand);
    json_text(json, "deprecated", field->deprecated);
    write_attrs(json, field->attrs);
    json_close(json, '}');
}

static void write_fields(struct json_out *json, const char *name, const struct ir_field *fields)
{
    json_open(json, name, '[');
    for (; fields != NULL; fields = fields->next)
        write_field(json, fields);
    json_close(json, ']');
}

static void write_enum(struct json_out *json, const struct ir_enum *type)
{
    json_open(json, NULL, '{');
    json_text(json, "name", type->name);
    json_text(json, "c", type->c);
    json_text(json, "type_symbol", type->type_symbol);
    json_text(json, "name_function", type->name_function);
    write_doc(json, type->doc);
    json_number(json, "line", type->line);
    json_text(json, "base", ir_kinds[type->base].word);
    json_bool(json, "closed", type->is_closed);
    write_attrs(json, type->attrs);
    json_open(json, "values", '[');
    for (const struct ir_enum_value *value = type->values; value != NULL; value = value->next) {
        json_open(json, NULL, '{');
        json_text(json, "name", value->name);
        json_text(json, "c", value->c);
        write_wide(json, "value", value->number);
        write_doc(json, value->doc);
        json_text(json, "deprecated", value->deprecated);
        write_attrs(json, value->attrs);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void write_user(struct json_out *json, const struct ir_user *type)
{
    json_open(json, NULL, '{');
    json_text(json, "name", type->name);
    json_text(json, "c", type->c);
    json_text(json, "type_symbol", type->type_symbol);
    write_doc(json, type->doc);
    json_number(json, "line", type->line);
    json_text(json, "base", ir_kinds[IR_STRING].word);
    json_text(json, "header", type->header);
    json_text(json, "parse", type->parse);
    json_text(json, "format", type->format);
    write_attrs(json, type->decl->attrs);
    json_close(json, '}');
}

static void write_struct(struct json_out *json, const struct ir_struct *type)
{
    json_open(json, NULL, '{');
    json_text(json, "name", type->name);
    json_text(json, "c", type->c);
    json_text(json, "type_symbol", type->type_symbol);
    json_text(json, "make", type->make);
    write_doc(json, type->doc);
    json_number(json, "line", type->line);
    write_attrs(json, type->decl->attrs);
    write_fields(json, "fields", type->fields);
    json_close(json, '}');
}

static void write_retry(struct json_out *json, const struct ir_retry *retry)
{
    bool is_ratio = retry->jitter == JITTER_RATIO;
    json_open(json, "retry", '{');
    json_number(json, "max", retry->max);
    write_decimal(json, "for_ns", retry->for_ns);
    json_text(json, "backoff", ir_backoff_words[retry->backoff]);
    write_decimal(json, "base_ns", retry->base_ns);
    json_text(json, "factor", retry->factor);
    write_decimal(json, "cap_ns", retry->cap_ns);
    json_open(json, "steps_ns", '[');
    for (const struct literal *step = retry->steps; step != NULL; step = step->next)
        json_decimal(json, NULL, step->duration_ns);
    json_close(json, ']');
    json_text(json, "jitter", is_ratio ? "ratio" : ir_jitter_text(retry));
    json_text(json, "jitter_ratio", retry->jitter_ratio);
    json_close(json, '}');
}

static void write_names(struct json_out *json, const char *name, const struct ast_names *names)
{
    json_open(json, name, '[');
    for (; names != NULL; names = names->next)
        json_text(json, NULL, names->name.text);
    json_close(json, ']');
}

static void write_unique(struct json_out *json, const struct ir_unique *unique)
{
    if (unique == NULL) {
        json_null(json, "unique");
        return;
    }
    json_open(json, "unique", '{');
    write_names(json, "by", unique->by);
    json_bool(json, "all", unique->is_by_all);
    write_decimal(json, "for_ns", unique->for_ns);
    write_names(json, "while", unique->states);
    json_text(json, "on_conflict", unique->on_conflict);
    json_decimal(json, "delay_ns", unique->delay_ns);
    json_close(json, '}');
}

static void write_limits(struct json_out *json, const struct ir_limit *limit)
{
    json_open(json, "limits", '[');
    for (; limit != NULL; limit = limit->next) {
        json_open(json, NULL, '{');
        json_text(json, "kind", setting_word(limit->kind));
        json_text(json, "name", limit->name);
        write_decimal(json, "count", limit->count);
        write_decimal(json, "per_ns", limit->per_ns);
        write_decimal(json, "burst", limit->burst);
        write_names(json, "by", limit->by);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_needs(struct json_out *json, const struct ir_need *need)
{
    json_open(json, "needs", '[');
    for (; need != NULL; need = need->next) {
        json_open(json, NULL, '{');
        json_text(json, "name", need->name);
        json_number(json, "units", need->units);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_spread(struct json_out *json, const struct ir_spread *spread)
{
    assert(spread->jitter_ns >= 0);
    json_decimal(json, "jitter_ns", spread->jitter_ns);
    json_text(json, "overlap", spread->may_overlap ? "allow" : "skip");
}

static void write_every(struct json_out *json, const struct ir_every *every)
{
    if (every == NULL) {
        json_null(json, "every");
        return;
    }
    assert(every->interval_ns > 0); /* The model is whole. */
    json_open(json, "every", '{');
    json_decimal(json, "interval_ns", every->interval_ns);
    write_spread(json, &every->spread);
    json_close(json, '}');
}

static void write_cron(struct json_out *json, const struct ir_cron *cron)
{
    if (cron == NULL) {
        json_null(json, "cron");
        return;
    }
    json_open(json, "cron", '{');
    json_text(json, "text", cron->fields);
    json_text(json, "tz", cron->zone);
    json_text(json, "missed", cron->missed);
    write_spread(json, &cron->spread);
    json_close(json, '}');
}

static void write_scalars(struct json_out *json, const struct ir_settings *settings)
{
    for (const struct scalar *scalar = scalars; scalar->key != NULL; scalar++) {
        int64_t number = scalar_get(scalar, settings);
        if (scalar->form == FORM_COUNT)
            json_number(json, scalar->key, number);
        else
            write_decimal(json, scalar->key, number);
    }
}

static void write_tags(struct json_out *json, const struct literal *tag)
{
    json_open(json, "tags", '[');
    for (; tag != NULL; tag = tag->next)
        json_text(json, NULL, tag->text);
    json_close(json, ']');
}

static void write_settings(struct json_out *json, const struct ir_settings *settings)
{
    json_text(json, "queue", settings->queue);
    write_scalars(json, settings);
    write_retry(json, &settings->retry);
    write_unique(json, settings->unique);
    write_limits(json, settings->limits);
    write_needs(json, settings->needs);
    write_every(json, settings->every);
    write_cron(json, settings->cron);
    write_tags(json, settings->tags);
}

static void write_functions(struct json_out *json, const struct ir_job *job)
{
    json_open(json, "functions", '{');
#define FUNCTION(member, key, when, parameters) json_text(json, key, job->functions.member);
#include "cnames.def"
    json_close(json, '}');
}

static void write_result(struct json_out *json, const struct ir_job *job)
{
    if (job->result_c == NULL) {
        json_null(json, "result");
        return;
    }
    json_open(json, "result", '{');
    json_text(json, "c", job->result_c);
    json_text(json, "make", job->result_make);
    json_text(json, "decode", job->result_decode);
    write_fields(json, "fields", job->result);
    json_close(json, '}');
}

static void write_metadata(struct json_out *json, const struct ir_job *job)
{
    if (job->metadata_c == NULL) {
        json_null(json, "metadata");
        return;
    }
    json_open(json, "metadata", '{');
    json_text(json, "c", job->metadata_c);
    json_text(json, "make", job->metadata_make);
    write_fields(json, "fields", job->metadata);
    json_close(json, '}');
}

static void write_job(struct json_out *json, const struct ir_job *job)
{
    char fingerprint[17];
    snprintf(fingerprint, sizeof(fingerprint), "%016" PRIx64, job->fingerprint);
    json_open(json, NULL, '{');
    json_text(json, "name", job->name);
    json_text(json, "qualified", job->qualified);
    json_text(json, "wire", job->wire);
    json_open(json, "was", '[');
    for (const struct literal *was = job->was; was != NULL; was = was->next)
        json_text(json, NULL, was->text);
    json_close(json, ']');
    json_text(json, "c", job->c);
    write_functions(json, job);
    write_doc(json, job->doc);
    json_number(json, "line", job->line);
    json_text(json, "deprecated", job->deprecated);
    json_bool(json, "retired", job->is_retired);
    write_attrs(json, job->attrs);
    write_fields(json, "params", job->params);
    json_text(json, "params_symbol", job->params_symbol);
    write_result(json, job);
    write_metadata(json, job);
    write_settings(json, &job->settings);
    json_text(json, "fingerprint", fingerprint);
    json_close(json, '}');
}

static void write_chain(struct json_out *json, const struct ir_chain *chain)
{
    json_open(json, NULL, '{');
    json_text(json, "name", chain->name);
    json_text(json, "qualified", chain->qualified);
    json_text(json, "type_symbol", chain->type_symbol);
    json_text(json, "enqueue", chain->enqueue);
    json_text(json, "register", chain->register_);
    write_doc(json, chain->doc);
    json_number(json, "line", chain->line);
    json_open(json, "steps", '[');
    for (const struct ir_step *step = chain->steps; step != NULL; step = step->next) {
        json_open(json, NULL, '{');
        json_text(json, "job", step->job->qualified);
        json_text(json, "c", step->job->c);
        json_text(json, "type_symbol", step->job->functions.type);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void write_head(struct json_out *json, const struct ir_file *file,
                       const struct ir_json_options *options)
{
    json_bool(json, "named", !options->is_import);
    json_text(json, "file", file->file);
    json_text(json, "stem", file->stem);
    json_text(json, "header", file->header);
    json_text(json, "source", file->source);
    json_text(json, "guard", file->guard);
    json_text(json, "package", file->package);
    json_text(json, "export_macro", options->export_macro);
    json_open(json, "imports", '[');
    for (const struct ir_import *import = file->imports; import != NULL; import = import->next) {
        json_open(json, NULL, '{');
        json_text(json, "file", import->file);
        json_text(json, "header", import->header);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void ir_json_file(struct json_out *json, const struct ir_file *file,
                  const struct ir_json_options *options)
{
    json_open(json, NULL, '{');
    write_head(json, file, options);
    json_open(json, "enums", '[');
    for (const struct ir_enum *type = file->enums; type != NULL; type = type->next)
        write_enum(json, type);
    json_close(json, ']');
    json_open(json, "types", '[');
    for (const struct ir_user *type = file->users; type != NULL; type = type->next)
        write_user(json, type);
    json_close(json, ']');
    json_open(json, "structs", '[');
    for (const struct ir_struct *type = file->structs; type != NULL; type = type->next)
        write_struct(json, type);
    json_close(json, ']');
    json_open(json, "jobs", '[');
    for (const struct ir_job *job = file->jobs; job != NULL; job = job->next)
        write_job(json, job);
    json_close(json, ']');
    json_open(json, "chains", '[');
    for (const struct ir_chain *chain = file->chains; chain != NULL; chain = chain->next)
        write_chain(json, chain);
    json_close(json, ']');
    json_close(json, '}');
}
