#include "command/values.h"

#include <stdlib.h>
#include <string.h>

#include <culex/schema.h>

enum { PATH_SIZE = 1024 };

/* Where the walk is. */
struct place {
    char path[PATH_SIZE];
    bool is_secret; /* here or anywhere above */
};

/* ---- types ------------------------------------------------------------------------------------
 */

static const char *kind_name(const culex_field *field)
{
    static const char *const names[CULEX_KIND_COUNT] = {
        "bool",   "char",      "int8",     "int16",   "int32",   "int64",   "int128", "uint8",
        "uint16", "uint32",    "uint64",   "uint128", "float32", "float64", "string", "bytes",
        "uuid",   "timestamp", "duration", "enum",    "struct",  "user"};
    if (field->enum_type != NULL)
        return field->enum_type->name;
    if (field->struct_type != NULL)
        return field->struct_type->name;
    return field->user_type != NULL ? field->user_type->name : names[field->kind];
}

const char *ops_type_format(const culex_field *field, char ret_text[OPS_TYPE_SIZE])
{
    const char *name = kind_name(field);
    if (field->shape == CULEX_SHAPE_SINGLE)
        snprintf(ret_text, OPS_TYPE_SIZE, "%s", name);
    else if (field->count == 0)
        snprintf(ret_text, OPS_TYPE_SIZE, "%s[]", name);
    else
        snprintf(ret_text, OPS_TYPE_SIZE, "%s[%s%zu]", name,
                 field->shape == CULEX_SHAPE_LIST ? "<=" : "", field->count);
    return ret_text;
}

const culex_struct_type *ops_type_open(const culex_struct_type *type, culex_arena *arena)
{
    culex_struct_type *open = culex_arena_alloc(arena, sizeof *open);
    culex_field *fields = culex_arena_alloc(arena, type->field_count * sizeof *fields);
    if (open == NULL || fields == NULL)
        return NULL;
    *open = (culex_struct_type){type->name, type->size, fields, 0};
    for (size_t i = 0; i < type->field_count; i++) {
        if ((type->fields[i].flags & CULEX_FIELD_ENCRYPTED) == 0)
            fields[open->field_count++] = type->fields[i];
    }
    return open;
}

const culex_struct_type *ops_type_bare(const culex_struct_type *type, culex_arena *arena)
{
    culex_struct_type *bare = culex_arena_alloc(arena, sizeof *bare);
    culex_field *fields = culex_arena_alloc(arena, type->field_count * sizeof *fields);
    if (bare == NULL || fields == NULL)
        return NULL;
    *bare = (culex_struct_type){type->name, type->size, fields, type->field_count};
    for (size_t i = 0; i < type->field_count; i++) {
        fields[i] = type->fields[i];
        if ((fields[i].flags & CULEX_FIELD_ENCRYPTED) != 0)
            fields[i].flags =
                (fields[i].flags & ~(unsigned)CULEX_FIELD_ENCRYPTED) | CULEX_FIELD_SECRET;
    }
    return bare;
}

/* ---- one value --------------------------------------------------------------------------------
 */

/* The JSON of one value, or of a list of them, that is no struct: the codec's own, of a struct that
 * has this field alone. "?" where it has none. */
static char *json_make(const culex_field *field, const void *base)
{
    culex_field alone = *field;
    alone.flags = CULEX_FIELD_REQUIRED;
    alone.wire = "v";
    const culex_struct_type type = {"value", 0, &alone, 1};
    culex_buf buf;
    culex_buf_init(&buf, 0);
    bool is_good =
        culex_encode(&type, base, &buf, NULL) == CULEX_OK && buf.len > strlen("{\"v\":}");
    char *text = is_good ? ops_copy(buf.data + 5, buf.len - 6) : ops_copy("?", 1);
    culex_buf_release(&buf);
    return text;
}

/* The default, in the same form; NULL: none. */
static char *default_make(const culex_field *field)
{
    culex_field alone = *field;
    alone.offset = 0;
    return field->def != NULL ? json_make(&alone, field->def) : NULL;
}

/* What has letters of its own needs no quotes: names, times, ids. */
static bool is_bare(const culex_field *field)
{
    switch (field->kind) {
    case CULEX_KIND_STRING:
        return field->user_type != NULL;
    case CULEX_KIND_INT128:
    case CULEX_KIND_UINT128:
    case CULEX_KIND_FLOAT32:
    case CULEX_KIND_FLOAT64:
    case CULEX_KIND_UUID:
    case CULEX_KIND_TIMESTAMP:
    case CULEX_KIND_DURATION:
    case CULEX_KIND_ENUM:
    case CULEX_KIND_BYTES:
        return true;
    default:
        return false;
    }
}

static void json_print(FILE *out, const culex_field *field, const char *json)
{
    struct ops_slice text = {json, strlen(json)};
    if (is_bare(field) && text.len >= 2 && text.text[0] == '"')
        text = (struct ops_slice){text.text + 1, text.len - 2};
    ops_print_text(out, text.text, text.len, false, 0);
}

char *ops_default_text(const culex_field *field)
{
    char *json = default_make(field);
    size_t len = json != NULL ? strlen(json) : 0;
    if (len >= 2 && json[0] == '"' && is_bare(field)) {
        memmove(json, json + 1, len - 2);
        json[len - 2] = '\0';
    }
    return json;
}

static void list_print(FILE *out, const culex_field *field, const char *json)
{
    struct ops_scan scan;
    struct ops_slice name, value;
    const char *between = "";
    putc('[', out);
    if (ops_scan_begin((struct ops_slice){json, strlen(json)}, &scan)) {
        while (ops_scan_next(&scan, &name, &value)) {
            char *item = ops_copy(value.text, value.len);
            fputs(between, out);
            json_print(out, field, item);
            free(item);
            between = ", ";
        }
    }
    putc(']', out);
}

/* ---- lines ------------------------------------------------------------------------------------
 */

struct printer {
    FILE *out;
    const struct ops_values_style *style;
    bool has_before;
};

static void struct_print(struct printer *printer, const struct place *place,
                         const culex_struct_type *type, const char *base);

static void path_begin(struct printer *printer, const char *path)
{
    if (printer->has_before)
        fprintf(printer->out, "\n%*s", printer->style->indent, "");
    printer->has_before = true;
    fprintf(printer->out, "%s: ", path);
}

/* Behind the value: what it is, and whether the schema or somebody said so. */
static void notes_print(struct printer *printer, const culex_field *field, const char *json,
                        const char *more)
{
    char type[OPS_TYPE_SIZE];
    char *usual = (field->flags & CULEX_FIELD_ENCRYPTED) == 0 ? default_make(field) : NULL;
    fprintf(printer->out, " (%s%s", ops_type_format(field, type), more);
    if (usual != NULL && json != NULL && strcmp(usual, json) == 0) {
        fputs(", default", printer->out);
    } else if (usual != NULL && json != NULL) {
        fputs(", default ", printer->out);
        json_print(printer->out, field, usual);
    }
    if ((field->flags & CULEX_FIELD_DEPRECATED) != 0)
        fputs(", deprecated", printer->out);
    putc(')', printer->out);
    free(usual);
    if (printer->style->wants_docs && field->doc != NULL) {
        fputs("  ", printer->out);
        ops_print_text(printer->out, field->doc, strlen(field->doc), true,
                       printer->style->indent + 2);
    }
}

static void line_print(struct printer *printer, const struct place *place, const culex_field *field,
                       const char *value, const char *more)
{
    path_begin(printer, place->path);
    fputs(value, printer->out);
    notes_print(printer, field, NULL, more);
}

static bool is_absent(const culex_field *field, const char *base)
{
    unsigned char has;
    if ((field->flags & CULEX_FIELD_OPTIONAL) == 0)
        return false;
    memcpy(&has, base + field->has_offset, 1);
    return has == 0;
}

/* How many values, and where the first one lies. */
static size_t values_of(const culex_field *field, const char *base, const char **ret_first)
{
    size_t count = field->shape == CULEX_SHAPE_ARRAY ? field->count : 1;
    *ret_first = base + field->offset;
    if (field->shape == CULEX_SHAPE_LIST) {
        memcpy(&count, base + field->len_offset, sizeof count);
        memcpy(ret_first, base + field->offset, sizeof *ret_first);
    }
    return count;
}

static struct place element_of(const struct place *place, const culex_field *field, size_t index)
{
    struct place element = *place;
    size_t len = strlen(element.path);
    if (field->shape != CULEX_SHAPE_SINGLE)
        snprintf(element.path + len, PATH_SIZE - len, "[%zu]", index);
    return element;
}

static void structs_print(struct printer *printer, const struct place *place,
                          const culex_field *field, const char *base)
{
    const char *first;
    size_t count = values_of(field, base, &first);
    if (count == 0 || field->struct_type->field_count == 0)
        line_print(printer, place, field, count == 0 ? "[]" : "{}", "");
    for (size_t i = 0; i < count; i++) {
        struct place element = element_of(place, field, i);
        struct_print(printer, &element, field->struct_type,
                     first + i * culex_schema_value_size(field));
    }
}

/* ", 4 bytes": of base64 nobody sees how many there are. */
static void bytes_note(const culex_field *field, const char *base, char *ret_note, size_t size)
{
    culex_bytes bytes;
    ret_note[0] = '\0';
    if (field->kind != CULEX_KIND_BYTES || field->shape != CULEX_SHAPE_SINGLE)
        return;
    memcpy(&bytes, base + field->offset, sizeof bytes);
    snprintf(ret_note, size, ", %zu byte%s", bytes.len, bytes.len == 1 ? "" : "s");
}

static void value_print(struct printer *printer, const struct place *place,
                        const culex_field *field, const char *base)
{
    char *json = json_make(field, base), more[40];
    bytes_note(field, base, more, sizeof more);
    path_begin(printer, place->path);
    if (field->shape == CULEX_SHAPE_SINGLE)
        json_print(printer->out, field, json);
    else
        list_print(printer->out, field, json);
    notes_print(printer, field, json, more);
    free(json);
}

static struct place place_of(const struct place *up, const culex_field *field)
{
    struct place place = *up;
    size_t len = strlen(place.path);
    snprintf(place.path + len, PATH_SIZE - len, "%s%s", len > 0 ? "." : "", field->name);
    place.is_secret = up->is_secret || (field->flags & CULEX_FIELD_SECRET) != 0;
    return place;
}

static void field_print(struct printer *printer, const struct place *up, const culex_field *field,
                        const char *base)
{
    struct place place = place_of(up, field);
    if ((field->flags & CULEX_FIELD_ENCRYPTED) != 0)
        line_print(printer, &place, field, "(encrypted)", "");
    else if (is_absent(field, base))
        line_print(printer, &place, field, "-",
                   culex_schema_default_is_withheld(field) ? ", the worker's default" : ", absent");
    else if (place.is_secret && !printer->style->shows_secrets)
        line_print(printer, &place, field, "(secret)", "");
    else if (field->kind == CULEX_KIND_STRUCT)
        structs_print(printer, &place, field, base);
    else
        value_print(printer, &place, field, base);
}

static void struct_print(struct printer *printer, const struct place *place,
                         const culex_struct_type *type, const char *base)
{
    for (size_t i = 0; i < type->field_count; i++)
        field_print(printer, place, &type->fields[i], base);
}

void ops_values_print(FILE *out, const culex_struct_type *type, const void *value,
                      const struct ops_values_style *style)
{
    struct printer printer = {.out = out, .style = style};
    const struct place place = {.path = ""};
    struct_print(&printer, &place, type, value);
    if (!printer.has_before)
        fputs("(none)", out);
    putc('\n', out);
}

/* ---- strangers --------------------------------------------------------------------------------
 */

static bool type_has(const culex_struct_type *type, struct ops_slice wire)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (ops_slice_is(wire, type->fields[i].wire))
            return true;
    }
    return false;
}

/* What begins with "!culex." or "culex." is no param: the rest of a chain, a trace. */
static bool is_of_culex(struct ops_slice name)
{
    static const char own[] = "!culex.";
    size_t skipped = name.len > 0 && name.text[0] == '!' ? 0 : 1, len = sizeof own - 1 - skipped;
    return name.len >= len && memcmp(name.text, own + skipped, len) == 0;
}

void ops_strangers_print(FILE *out, const culex_struct_type *type, struct ops_slice payload,
                         int indent)
{
    struct ops_scan scan;
    struct ops_slice name, value;
    if (!ops_scan_begin(payload, &scan) || !scan.is_object)
        return;
    while (ops_scan_next(&scan, &name, &value)) {
        if (is_of_culex(name))
            continue;
        bool is_marked = name.len > 0 && name.text[0] == '!';
        if (type_has(type, (struct ops_slice){name.text + is_marked, name.len - is_marked}))
            continue;
        fprintf(out, "%*s", indent, "");
        ops_print_text(out, name.text, name.len, false, 0);
        fputs(": (not in the schema: --params shows it)\n", out);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

struct emitter {
    struct ops_json *json;
    struct ops_json *hidden; /* a list of names */
    bool shows_secrets;
};

static void struct_emit(struct emitter *emitter, const char *name, const struct place *place,
                        const culex_struct_type *type, const char *base);

static void structs_emit(struct emitter *emitter, const struct place *place,
                         const culex_field *field, const char *base)
{
    const char *first;
    size_t count = values_of(field, base, &first);
    bool is_list = field->shape != CULEX_SHAPE_SINGLE;
    if (is_list)
        ops_json_array(emitter->json, field->name);
    for (size_t i = 0; i < count; i++) {
        struct place element = element_of(place, field, i);
        struct_emit(emitter, is_list ? NULL : field->name, &element, field->struct_type,
                    first + i * culex_schema_value_size(field));
    }
    if (is_list)
        ops_json_array_end(emitter->json);
}

static void field_emit(struct emitter *emitter, const struct place *up, const culex_field *field,
                       const char *base)
{
    struct place place = place_of(up, field);
    bool is_sealed = (field->flags & CULEX_FIELD_ENCRYPTED) != 0;
    if (is_sealed || (place.is_secret && !emitter->shows_secrets)) {
        ops_json_text(emitter->hidden, NULL, place.path);
    } else if (!is_absent(field, base) && field->kind == CULEX_KIND_STRUCT) {
        structs_emit(emitter, &place, field, base);
    } else if (!is_absent(field, base)) {
        char *json = json_make(field, base);
        ops_json_value(emitter->json, field->name, json, strlen(json));
        free(json);
    }
}

static void struct_emit(struct emitter *emitter, const char *name, const struct place *place,
                        const culex_struct_type *type, const char *base)
{
    ops_json_object(emitter->json, name);
    for (size_t i = 0; i < type->field_count; i++)
        field_emit(emitter, place, &type->fields[i], base);
    ops_json_object_end(emitter->json);
}

void ops_values_json(struct ops_json *json, const char *name, const char *hidden,
                     const culex_struct_type *type, const void *value, bool shows_secrets)
{
    char *names = NULL;
    size_t len = 0;
    struct ops_json list = {.out = open_memstream(&names, &len)};
    const struct place place = {.path = ""};
    if (list.out == NULL) /* no memory: see ops_alloc */
        ops_alloc(NULL, SIZE_MAX);
    ops_json_array(&list, NULL);
    struct emitter emitter = {.json = json, .hidden = &list, .shows_secrets = shows_secrets};
    struct_emit(&emitter, name, &place, type, value);
    ops_json_array_end(&list);
    fclose(list.out);
    ops_json_raw(json, hidden, names, len);
    free(names);
}
