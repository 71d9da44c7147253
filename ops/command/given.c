#include "command/given.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <culex/schema.h>

#include "command/guess.h"
#include "command/print.h"
#include "command/value.h"
#include "command/values.h"

enum {
    DEPTH_MAX = 16, /* of structs inside each other, as payloads have them */
    SHOWN_MAX = 48, /* bytes of a word in a message */
    WRONG_MAX = 170 /* and of what is wrong with it */
};

/* One NAME=VALUE. */
struct word {
    const char *text;
    struct ops_slice name, value;
};

struct given {
    const struct word *words;
    size_t count;
    culex_buf *out;
    culex_error *error;
};

/* ---- messages ---------------------------------------------------------------------------------
 */

/* What is wrong, and below it the word with a mark under its name, or under its value. The value of
 * a secret is not repeated. */
static culex_status word_refuse(const struct given *given, const struct word *word,
                                bool is_of_value, bool is_secret, const char *wrong)
{
    size_t name = word->name.len;
    size_t before = is_of_value ? name + 1 : 0;
    size_t len = is_of_value ? word->value.len : name;
    const char *value = is_secret ? "..." : word->value.text;
    if (is_secret && is_of_value)
        len = 3;
    char mark[SHOWN_MAX + 1] = "^";
    size_t room = before < SHOWN_MAX ? SHOWN_MAX - before : 1;
    for (size_t i = 1; i < len && i < room; i++)
        mark[i] = '~';
    return ops_usage(given->error, "%.*s\n    %.*s=%.*s\n    %*s%s", WRONG_MAX, wrong,
                     (int)(name < SHOWN_MAX ? name : SHOWN_MAX), word->name.text,
                     (int)(name < SHOWN_MAX ? SHOWN_MAX - name : 0), value,
                     (int)(before <= SHOWN_MAX ? before : 0), "", mark);
}

CULEX_PRINTF(5, 6)
static culex_status word_fail(const struct given *given, const struct word *word, bool is_of_value,
                              bool is_secret, const char *format, ...)
{
    char wrong[WRONG_MAX + 1];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(wrong, sizeof wrong, format, arguments);
    va_end(arguments);
    return word_refuse(given, word, is_of_value, is_secret, wrong);
}

/* "; did you mean x?", or what there is. */
static const char *names_hint(const culex_struct_type *type, struct ops_slice name, char *ret_text,
                              size_t size)
{
    struct ops_guess guess = ops_guess_begin(name.text, name.len);
    for (size_t i = 0; i < type->field_count; i++)
        ops_guess_add(&guess, type->fields[i].name);
    if (guess.best != NULL) {
        snprintf(ret_text, size, "; did you mean %s?", guess.best);
        return ret_text;
    }
    size_t at =
        (size_t)snprintf(ret_text, size, "; there %s", type->field_count == 0 ? "are none" : "are");
    for (size_t i = 0; i < type->field_count && at < size; i++)
        at += (size_t)snprintf(ret_text + at, size - at, "%s %s", i > 0 ? "," : "",
                               type->fields[i].name);
    if (at >= size)
        memcpy(ret_text + size - 4, "...", 4);
    return ret_text;
}

/* ---- names ------------------------------------------------------------------------------------
 */

/* The part of the name up to the next '.'; what is behind that in *rest, NULL when there is
 * none. */
static struct ops_slice part_of(struct ops_slice name, struct ops_slice *ret_rest)
{
    const char *dot = memchr(name.text, '.', name.len);
    if (dot == NULL) {
        *ret_rest = (struct ops_slice){NULL, 0};
        return name;
    }
    size_t len = (size_t)(dot - name.text);
    *ret_rest = (struct ops_slice){dot + 1, name.len - len - 1};
    return (struct ops_slice){name.text, len};
}

static const culex_field *field_named(const culex_struct_type *type, struct ops_slice name)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (ops_slice_is(name, type->fields[i].name))
            return &type->fields[i];
    }
    return NULL;
}

/* A struct and a part of a name in it. */
static culex_status part_check(const struct given *given, const struct word *word,
                               const culex_struct_type *type, struct ops_slice part, bool has_rest,
                               const culex_field **ret_field)
{
    char hint[WRONG_MAX], of[OPS_TYPE_SIZE];
    const culex_field *field = *ret_field = field_named(type, part);
    if (field == NULL)
        return word_fail(given, word, false, true, "%s has no param '%.*s'%s", type->name,
                         (int)(part.len < SHOWN_MAX ? part.len : SHOWN_MAX), part.text,
                         names_hint(type, part, hint, sizeof hint));
    if ((field->flags & CULEX_FIELD_ENCRYPTED) != 0)
        return word_fail(given, word, false, true,
                         "%s is encrypted, and culex has no keys: enqueue it by a program that has",
                         field->name);
    if (has_rest && (field->kind != CULEX_KIND_STRUCT || field->shape != CULEX_SHAPE_SINGLE))
        return word_fail(given, word, false, true, "%s has no names in it: it is %s%s", field->name,
                         ops_type_format(field, of),
                         field->kind == CULEX_KIND_STRUCT ? "; give it as JSON" : "");
    return CULEX_OK;
}

static culex_status name_check(const struct given *given, const struct word *word,
                               const culex_struct_type *type)
{
    struct ops_slice left = word->name;
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        struct ops_slice rest;
        const culex_field *field;
        struct ops_slice part = part_of(left, &rest);
        culex_status status = part_check(given, word, type, part, rest.text != NULL, &field);
        if (status != CULEX_OK || rest.text == NULL)
            return status;
        type = field->struct_type;
        left = rest;
    }
    return word_fail(given, word, false, true, "more than %d names inside each other", DEPTH_MAX);
}

/* ---- values -----------------------------------------------------------------------------------
 */

static culex_status put(const struct given *given, const char *text, size_t len)
{
    /* The only way into a culex_buf that is public is the codec, so the text is kept by hand. */
    culex_buf *buf = given->out;
    if (buf->len + len + 1 > buf->cap) {
        buf->cap = (buf->len + len + 1) * 2;
        buf->data = ops_alloc(buf->data, buf->cap);
    }
    memcpy(buf->data + buf->len, text, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
    return CULEX_OK;
}

static void put_text(const struct given *given, const char *text)
{
    (void)!put(given, text, strlen(text));
}

/* As a JSON string. Bytes that are no UTF-8 are left to the codec, which says so. */
static void put_quoted(const struct given *given, struct ops_slice text)
{
    put_text(given, "\"");
    for (size_t i = 0; i < text.len; i++) {
        unsigned char letter = (unsigned char)text.text[i];
        char escape[8];
        if (letter < 0x20 || letter == '"' || letter == '\\') {
            snprintf(escape, sizeof escape, "\\u%04x", letter);
            put_text(given, escape);
        } else {
            (void)!put(given, text.text + i, 1);
        }
    }
    put_text(given, "\"");
}

/* "90s", "5m" and "2h" as schemas have them; the codec takes seconds alone. */
static void put_duration(const struct given *given, struct ops_slice text)
{
    char *copy = ops_copy(text.text, text.len), seconds[48];
    culex_duration span;
    culex_error ignored;
    if (ops_value_duration("", copy, &span, &ignored) == CULEX_OK) {
        snprintf(seconds, sizeof seconds, "%lld.%09llds", (long long)(span / CULEX_SECOND),
                 (long long)(span % CULEX_SECOND));
        text = (struct ops_slice){seconds, strlen(seconds)};
    }
    put_quoted(given, text);
    free(copy);
}

static bool is_number(struct ops_slice text)
{
    bool begins =
        text.len > 0 && (text.text[0] == '-' || (text.text[0] >= '0' && text.text[0] <= '9'));
    for (size_t i = 0; i < text.len && begins; i++)
        begins = strchr("+-.eE0123456789", text.text[i]) != NULL && text.text[i] != '\0';
    return begins;
}

static culex_status enum_check(const struct given *given, const struct word *word,
                               const culex_field *field, struct ops_slice text, bool is_secret)
{
    const culex_enum_type *type = field->enum_type;
    struct ops_guess guess = ops_guess_begin(text.text, text.len);
    char all[WRONG_MAX] = "";
    size_t at = 0;
    for (size_t i = 0; i < type->value_count; i++) {
        if (ops_slice_is(text, type->values[i].name))
            return CULEX_OK;
        ops_guess_add(&guess, type->values[i].name);
        if (at < sizeof all)
            at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", i > 0 ? ", " : "",
                                   type->values[i].name);
    }
    if (guess.best != NULL && !is_secret)
        return word_fail(given, word, true, is_secret, "%s: no value of %s; did you mean %s?",
                         field->name, type->name, guess.best);
    return word_fail(given, word, true, is_secret, "%s: no value of %s, which has %s", field->name,
                     type->name, all);
}

/* One value that is not a struct, as its JSON. */
static culex_status scalar_put(const struct given *given, const struct word *word,
                               const culex_field *field, struct ops_slice text, bool is_secret)
{
    switch (field->kind) {
    case CULEX_KIND_BOOL:
        if (!ops_slice_is(text, "true") && !ops_slice_is(text, "false"))
            return word_fail(given, word, true, is_secret, "%s: expected true or false",
                             field->name);
        return put(given, text.text, text.len);
    case CULEX_KIND_FLOAT32:
    case CULEX_KIND_FLOAT64:
        if (is_number(text))
            return put(given, text.text, text.len);
        break;
    case CULEX_KIND_DURATION:
        put_duration(given, text);
        return CULEX_OK;
    case CULEX_KIND_ENUM:
        put_quoted(given, text);
        return enum_check(given, word, field, text, is_secret);
    case CULEX_KIND_STRUCT:
        return ops_slice_trim(text).len > 0 && ops_slice_trim(text).text[0] == '{'
                   ? put(given, text.text, text.len)
                   : word_fail(given, word, true, is_secret,
                               "%s: a struct: write %s.NAME=VALUE, or {\"NAME\":VALUE,...}",
                               field->name, field->name);
    default:
        break;
    }
    put_quoted(given, text);
    return CULEX_OK;
}

/* Whether the value is not to be repeated: a struct may have secrets in it. */
static bool is_kept_back(const culex_field *field, bool is_secret)
{
    return is_secret || field->kind == CULEX_KIND_STRUCT;
}

/* Whether the codec takes what was written from `start` on, as it will stand in the payload. */
static culex_status value_try(const struct given *given, const struct word *word,
                              const culex_field *field, size_t start, bool is_secret)
{
    culex_field alone = *field;
    alone.wire = "v";
    alone.offset = 64;
    alone.has_offset = 0;
    alone.len_offset = 8;
    alone.flags |= is_secret ? (unsigned)CULEX_FIELD_SECRET : 0;
    size_t count = field->shape == CULEX_SHAPE_ARRAY ? field->count : 1;
    const culex_struct_type type = {"value", 64 + 16 + culex_schema_value_size(field) * count,
                                    &alone, 1};
    culex_arena *arena = culex_arena_create();
    char *text = ops_alloc(NULL, given->out->len - start + 8);
    int len = sprintf(text, "{\"v\":%s}", given->out->data + start);
    const void *value;
    culex_error error = {.code = CULEX_OK};
    culex_status status = culex_decode(&type, arena, text, (size_t)len, &value, &error);
    culex_arena_free(arena);
    free(text);
    return status == CULEX_OK
               ? status
               : word_fail(given, word, true, is_kept_back(field, is_secret), "%s", error.text);
}

static bool is_json_list(struct ops_slice text)
{
    text = ops_slice_trim(text);
    return text.len > 0 && text.text[0] == '[';
}

static culex_status value_check(const culex_field *field, struct ops_slice value, unsigned depth,
                                culex_error *error);

/* As value_try, of what may be JSON with names in it. */
static culex_status json_try(const struct given *given, const struct word *word,
                             const culex_field *field, size_t start, bool is_secret)
{
    const struct ops_slice json = {given->out->data + start, given->out->len - start};
    culex_error error = {.code = CULEX_OK};
    if (value_check(field, json, 0, &error) != CULEX_OK)
        return word_fail(given, word, true, is_kept_back(field, is_secret), "%s", error.text);
    return value_try(given, word, field, start, is_secret);
}

/* ---- the object -------------------------------------------------------------------------------
 */

/* Where a struct stands: what the words begin with that are of it. */
struct level {
    const culex_struct_type *type;
    struct ops_slice prefix; /* "a.b.", or empty */
    bool is_secret;
};

static culex_status level_put(const struct given *given, const struct level *level);

/* How the word is of this field: 0 not at all, 1 itself, 2 a name in it. */
static int word_of(const struct word *word, const struct level *level, const culex_field *field)
{
    size_t len = strlen(field->name), at = level->prefix.len;
    if (word->name.len < at + len || memcmp(word->name.text, level->prefix.text, at) != 0 ||
        memcmp(word->name.text + at, field->name, len) != 0)
        return 0;
    if (word->name.len == at + len)
        return 1;
    return word->name.text[at + len] == '.' ? 2 : 0;
}

/* The only word of a field with one value, or all of a list. */
static culex_status words_put(const struct given *given, const struct level *level,
                              const culex_field *field, const struct word *first, size_t count)
{
    bool is_secret = level->is_secret || (field->flags & CULEX_FIELD_SECRET) != 0;
    bool is_list = field->shape != CULEX_SHAPE_SINGLE;
    size_t start = given->out->len;
    culex_status status = CULEX_OK;
    if (is_list && count == 1 && is_json_list(first->value)) {
        status = put(given, first->value.text, first->value.len);
        return status == CULEX_OK ? json_try(given, first, field, start, is_secret) : status;
    }
    const char *between = "";
    put_text(given, is_list ? "[" : "");
    const struct word *last = first;
    for (const struct word *word = first; word < given->words + given->count; word++) {
        if (status != CULEX_OK || word_of(word, level, field) != 1)
            continue;
        if (word != first && !is_list)
            return word_fail(given, word, false, true, "%s is given twice", field->name);
        put_text(given, between);
        status = scalar_put(given, word, field, word->value, is_kept_back(field, is_secret));
        between = ",";
        last = word;
    }
    put_text(given, is_list ? "]" : "");
    return status == CULEX_OK ? json_try(given, last, field, start, is_secret) : status;
}

static void prefix_make(const struct level *level, const culex_field *field, char **ret_prefix)
{
    size_t len = strlen(field->name);
    char *prefix = ops_alloc(NULL, level->prefix.len + len + 2);
    memcpy(prefix, level->prefix.text, level->prefix.len);
    memcpy(prefix + level->prefix.len, field->name, len);
    strcpy(prefix + level->prefix.len + len, ".");
    *ret_prefix = prefix;
}

static culex_status inner_put(const struct given *given, const struct level *level,
                              const culex_field *field)
{
    char *prefix;
    prefix_make(level, field, &prefix);
    const struct level inner = {.type = field->struct_type,
                                .prefix = {prefix, strlen(prefix)},
                                .is_secret =
                                    level->is_secret || (field->flags & CULEX_FIELD_SECRET) != 0};
    culex_status status = level_put(given, &inner);
    free(prefix);
    return status;
}

static culex_status field_put(const struct given *given, const struct level *level,
                              const culex_field *field, bool *is_first)
{
    const struct word *own = NULL, *in = NULL;
    size_t count = 0;
    for (size_t i = 0; i < given->count; i++) {
        int how = word_of(&given->words[i], level, field);
        own = how == 1 && own == NULL ? &given->words[i] : own;
        in = how == 2 && in == NULL ? &given->words[i] : in;
        count += how == 1;
    }
    if (own == NULL && in == NULL)
        return CULEX_OK;
    if (own != NULL && in != NULL)
        return word_fail(given, in, false, true, "%s is given as a whole too", field->name);
    put_text(given, *is_first ? "\"" : ",\"");
    put_text(given, (field->flags & CULEX_FIELD_MUST_UNDERSTAND) != 0 ? "!" : "");
    put_text(given, field->wire);
    put_text(given, "\":");
    *is_first = false;
    return own != NULL ? words_put(given, level, field, own, count)
                       : inner_put(given, level, field);
}

static culex_status level_put(const struct given *given, const struct level *level)
{
    culex_status status = CULEX_OK;
    bool is_first = true;
    put_text(given, "{");
    for (size_t i = 0; i < level->type->field_count && status == CULEX_OK; i++)
        status = field_put(given, level, &level->type->fields[i], &is_first);
    put_text(given, "}");
    return status;
}

static culex_status word_split(const char *text, struct word *ret_word, culex_error *error)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        return ops_usage(error, "%.100s: write NAME=VALUE", text);
    *ret_word =
        (struct word){text, {text, (size_t)(equals - text)}, {equals + 1, strlen(equals + 1)}};
    return CULEX_OK;
}

culex_status ops_given_read(const culex_struct_type *type, const char *const *words, size_t count,
                            culex_buf *ret_payload, culex_error *error)
{
    struct word *split = ops_alloc(NULL, (count + 1) * sizeof *split);
    const struct given given = {split, count, ret_payload, error};
    const struct level level = {.type = type, .prefix = {"", 0}};
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < count && status == CULEX_OK; i++) {
        status = word_split(words[i], &split[i], error);
        if (status == CULEX_OK)
            status = name_check(&given, &split[i], type);
    }
    if (status == CULEX_OK)
        status = level_put(&given, &level);
    free(split);
    return status;
}

/* ---- a whole object ---------------------------------------------------------------------------
 */

static const culex_field *field_of_wire(const culex_struct_type *type, struct ops_slice wire)
{
    bool is_marked = wire.len > 0 && wire.text[0] == '!';
    wire = (struct ops_slice){wire.text + is_marked, wire.len - is_marked};
    for (size_t i = 0; i < type->field_count; i++) {
        if (ops_slice_is(wire, type->fields[i].wire))
            return &type->fields[i];
    }
    return NULL;
}

static culex_status object_check(const culex_struct_type *type, struct ops_slice object,
                                 unsigned depth, culex_error *error);

static culex_status value_check(const culex_field *field, struct ops_slice value, unsigned depth,
                                culex_error *error)
{
    struct ops_scan scan;
    struct ops_slice name, item;
    culex_status status = CULEX_OK;
    if ((field->flags & CULEX_FIELD_ENCRYPTED) != 0)
        return ops_usage(error,
                         "%s is encrypted, and culex has no keys: enqueue it by a program that has",
                         field->name);
    if (field->kind != CULEX_KIND_STRUCT)
        return CULEX_OK;
    if (field->shape == CULEX_SHAPE_SINGLE)
        return object_check(field->struct_type, value, depth + 1, error);
    if (!ops_scan_begin(value, &scan))
        return CULEX_OK;
    while (status == CULEX_OK && ops_scan_next(&scan, &name, &item))
        status = object_check(field->struct_type, item, depth + 1, error);
    return status;
}

static culex_status object_check(const culex_struct_type *type, struct ops_slice object,
                                 unsigned depth, culex_error *error)
{
    char hint[WRONG_MAX];
    struct ops_scan scan;
    struct ops_slice name, value;
    culex_status status = CULEX_OK;
    if (depth > DEPTH_MAX || !ops_scan_begin(object, &scan) || !scan.is_object)
        return CULEX_OK; /* the codec says what is wrong with it */
    while (status == CULEX_OK && ops_scan_next(&scan, &name, &value)) {
        const culex_field *field = field_of_wire(type, name);
        if (field == NULL)
            return ops_usage(error, "%s has no param '%.*s'%s", type->name,
                             (int)(name.len < SHOWN_MAX ? name.len : SHOWN_MAX), name.text,
                             names_hint(type, name, hint, sizeof hint));
        status = value_check(field, value, depth, error);
    }
    return status;
}

culex_status ops_given_check(const culex_struct_type *type, struct ops_slice payload,
                             culex_error *error)
{
    return object_check(type, payload, 0, error);
}

static bool payload_has(struct ops_slice payload, const culex_field *field)
{
    struct ops_scan scan;
    struct ops_slice name, value;
    if (!ops_scan_begin(payload, &scan))
        return false;
    while (ops_scan_next(&scan, &name, &value)) {
        bool is_marked = name.len > 0 && name.text[0] == '!';
        if (ops_slice_is((struct ops_slice){name.text + is_marked, name.len - is_marked},
                         field->wire))
            return !ops_slice_is(value, "null");
    }
    return false;
}

culex_status ops_given_missing(const culex_struct_type *type, struct ops_slice payload,
                               culex_error *error)
{
    char names[300] = "", of[OPS_TYPE_SIZE];
    size_t at = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        const culex_field *field = &type->fields[i];
        if ((field->flags & CULEX_FIELD_REQUIRED) == 0 || payload_has(payload, field))
            continue;
        if ((field->flags & CULEX_FIELD_ENCRYPTED) != 0)
            return ops_usage(error,
                             "%s is required and encrypted, and culex has no keys: enqueue the job "
                             "by a program that has",
                             field->name);
        if (at < sizeof names)
            at += (size_t)snprintf(names + at, sizeof names - at, "%s%s (%s)", at > 0 ? ", " : "",
                                   field->name, ops_type_format(field, of));
    }
    return at == 0 ? CULEX_OK : ops_usage(error, "required and not given: %s", names);
}
