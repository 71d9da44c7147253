#include "fingerprint.h"

#include <inttypes.h>

#include "buf.h"
#include "fnv.h"

static void add_bound(struct buf *text, const char *name, const struct ir_value *value)
{
    if (value->kind == VALUE_INT || value->kind == VALUE_FLOAT)
        buf_printf(text, " %s %s", name, value->text);
    else if (value->kind != VALUE_NONE)
        buf_printf(text, " %s %" PRId64, name, value->number);
}

static void add_field(struct buf *text, const struct ir_field *field)
{
    uint64_t nested = field->enumeration != NULL ? field->enumeration->fingerprint
                      : field->structure != NULL ? field->structure->fingerprint
                      : field->user != NULL      ? field->user->fingerprint
                                                 : 0;
    buf_printf(text, "%s %s", field->wire, ir_kinds[field->kind].word);
    if (nested != 0)
        buf_printf(text, " %016" PRIx64, nested);
    buf_printf(text, " %d %" PRId64 " %d%d%d", (int)field->shape, field->count, field->is_optional,
               field->is_required, field->must_understand);
    if (field->is_encrypted)
        buf_printf(text, " encrypted");
    buf_printf(text, " %" PRId64 " %" PRId64, field->min_len, field->max_len);
    add_bound(text, "min", &field->min);
    add_bound(text, "max", &field->max);
    buf_char(text, '\n');
}

uint64_t fingerprint_fields(const struct ir_field *fields)
{
    struct buf text = {0};
    for (; fields != NULL; fields = fields->next)
        add_field(&text, fields);
    uint64_t hash = fnv_bytes(FNV_START, text.data, text.len);
    buf_release(&text);
    return hash;
}

uint64_t fingerprint_enum(const struct ir_enum *type)
{
    uint64_t hash = fnv_text(FNV_START, ir_kinds[type->base].word);
    for (const struct ir_enum_value *value = type->values; value != NULL; value = value->next) {
        char number[WIDE_TEXT_BYTES];
        wide_format(value->number, number);
        hash = fnv_text(fnv_text(fnv_text(hash, "\n"), value->name), number);
    }
    return hash;
}
