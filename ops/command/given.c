#include "command/given.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "command/payload.h"
#include "command/print.h"
#include "command/values.h"

enum {
    DEPTH_MAX = 16,  /* of structs inside each other, as payloads have them */
    SHOWN_MAX = 48,  /* bytes of a word in a message */
    HINT_SIZE = 170, /* of names */
    WRONG_MAX = 270  /* and of what is wrong with it */
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

/* What is behind `part`, and so is no part of the path to it. */
static int path_len(const struct word *word, struct ops_slice part)
{
    return (int)(part.text + part.len - word->name.text);
}

static culex_status name_refuse(const struct given *given, const struct word *word,
                                const culex_struct_type *type, struct ops_slice part)
{
    char hint[HINT_SIZE];
    const culex_field *stored = ops_field_stored(type, part);
    if (stored != NULL)
        return word_fail(given, word, false, true, "%.*s is named %s now", path_len(word, part),
                         word->name.text, stored->name);
    return word_fail(given, word, false, true, "%s has no param '%.*s'%s", type->name,
                     (int)(part.len < SHOWN_MAX ? part.len : SHOWN_MAX), part.text,
                     ops_names_hint(type, part, hint, sizeof hint));
}

/* A struct and a part of a name in it. */
static culex_status part_check(const struct given *given, const struct word *word,
                               const culex_struct_type *type, struct ops_slice part, bool has_rest,
                               const culex_field **ret_field)
{
    char of[OPS_TYPE_SIZE];
    const culex_field *field = *ret_field = ops_field_named(type, part);
    if (field == NULL)
        return name_refuse(given, word, type, part);
    if ((field->flags & CULEX_FIELD_ENCRYPTED) != 0)
        return word_fail(given, word, false, true,
                         "%.*s is encrypted, and there is no key for it: culex enqueue --keys FILE "
                         "has some",
                         path_len(word, part), word->name.text);
    if (has_rest && (field->kind != CULEX_KIND_STRUCT || field->shape != CULEX_SHAPE_SINGLE))
        return word_fail(given, word, false, true, "%.*s has no names in it: it is %s%s",
                         path_len(word, part), word->name.text, ops_type_format(field, of),
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

static void put_text(const struct given *given, const char *text)
{
    ops_buf_put(given->out, text, strlen(text));
}

static bool is_number(struct ops_slice text)
{
    bool begins =
        text.len > 0 && (text.text[0] == '-' || (text.text[0] >= '0' && text.text[0] <= '9'));
    for (size_t i = 0; i < text.len && begins; i++)
        begins = strchr("+-.eE0123456789", text.text[i]) != NULL && text.text[i] != '\0';
    return begins;
}

/* Of a field, as a message calls it. */
struct named {
    const culex_field *field;
    char path[OPS_PATH_SIZE];
    bool is_secret;
};

/* A message of another part, with the word below it. A struct may have secrets in it. */
static culex_status word_blame(const struct given *given, const struct word *word,
                               const struct named *named, culex_status status,
                               const culex_error *error)
{
    bool is_kept_back = named->is_secret || named->field->kind == CULEX_KIND_STRUCT;
    return status == CULEX_OK ? status
                              : word_fail(given, word, true, is_kept_back, "%s", error->text);
}

/* Hexadecimal digits are base64 as well, and another value. */
static void digits_hint(const struct named *named, struct ops_slice text)
{
    char told[OPS_PATH_SIZE + 100];
    bool is_hex = text.len > 0 && text.len % 4 == 0;
    for (size_t i = 0; i < text.len && is_hex; i++)
        is_hex = strchr("0123456789abcdefABCDEF", text.text[i]) != NULL;
    if (!is_hex)
        return;
    snprintf(told, sizeof told, "%s: read as base64; write hex: before hexadecimal digits",
             named->path);
    ops_failure_print(told);
}

static culex_status plain_put(const struct given *given, const struct word *word,
                              const struct named *named)
{
    culex_error error = {.code = CULEX_OK};
    const struct ops_payload payload = {"the value", given->out, &error};
    if (named->field->kind == CULEX_KIND_BYTES)
        digits_hint(named, word->value);
    culex_status status =
        ops_payload_plain(&payload, named->field, named->path, named->is_secret, word->value);
    return word_blame(given, word, named, status, &error);
}

static culex_status json_put(const struct given *given, const struct word *word,
                             const struct named *named)
{
    culex_error error = {.code = CULEX_OK};
    const struct ops_payload payload = {"the value", given->out, &error};
    culex_status status =
        ops_payload_value(&payload, named->field, named->path, named->is_secret, word->value);
    return word_blame(given, word, named, status, &error);
}

static culex_status enum_put(const struct given *given, const struct word *word,
                             const struct named *named)
{
    char wrong[CULEX_ERROR_TEXT_SIZE];
    ops_buf_quote(given->out, word->value);
    if (ops_enum_has(named->field, named->path, named->is_secret, word->value, wrong, sizeof wrong))
        return CULEX_OK;
    return word_fail(given, word, true, named->is_secret, "%s", wrong);
}

static culex_status struct_put(const struct given *given, const struct word *word,
                               const struct named *named)
{
    struct ops_slice text = ops_slice_trim(word->value);
    if (text.len > 0 && text.text[0] == '{')
        return json_put(given, word, named);
    if (named->path[strlen(named->path) - 1] == ']') /* of a list */
        return word_fail(given, word, true, true, "%s: a struct: write {\"NAME\":VALUE,...}",
                         named->path);
    return word_fail(given, word, true, true,
                     "%s: a struct: write %s.NAME=VALUE, or {\"NAME\":VALUE,...}", named->path,
                     named->path);
}

/* One value, as its JSON. */
static culex_status value_put(const struct given *given, const struct word *word,
                              const struct named *named)
{
    struct ops_slice text = word->value;
    bool is_bool = ops_slice_is(text, "true") || ops_slice_is(text, "false");
    bool is_bare = named->field->kind == CULEX_KIND_BOOL ? is_bool : is_number(text);
    switch (named->field->kind) {
    case CULEX_KIND_BOOL:
        if (!is_bool)
            return word_fail(given, word, true, named->is_secret, "%s: expected true or false",
                             named->path);
        break;
    case CULEX_KIND_FLOAT32:
    case CULEX_KIND_FLOAT64:
        break;
    case CULEX_KIND_BYTES:
    case CULEX_KIND_DURATION:
        return plain_put(given, word, named);
    case CULEX_KIND_ENUM:
        return enum_put(given, word, named);
    case CULEX_KIND_STRUCT:
        return struct_put(given, word, named);
    default:
        is_bare = false;
        break;
    }
    if (is_bare)
        ops_buf_put(given->out, text.text, text.len);
    else
        ops_buf_quote(given->out, text);
    return CULEX_OK;
}

/* Whether the codec takes what was written from `start` on, as it will stand in the payload. */
static culex_status value_try(const struct given *given, const struct word *word,
                              const struct named *named, size_t start)
{
    culex_error error = {.code = CULEX_OK};
    const struct ops_slice json = {given->out->data + start, given->out->len - start};
    culex_status status =
        ops_payload_try(named->field, named->path, named->is_secret, json, &error);
    return word_blame(given, word, named, status, &error);
}

static bool is_json_list(struct ops_slice text)
{
    text = ops_slice_trim(text);
    return text.len > 0 && text.text[0] == '[';
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

static struct named named_of(const struct level *level, const culex_field *field)
{
    struct named named = {field, "", level->is_secret || (field->flags & CULEX_FIELD_SECRET) != 0};
    snprintf(named.path, sizeof named.path, "%.*s%s",
             (int)(level->prefix.len < OPS_PATH_SIZE ? level->prefix.len : OPS_PATH_SIZE),
             level->prefix.text, field->name);
    return named;
}

/* An element of a list: as its path goes on, and of one value. `single` is for its field. */
static struct named element_of(const struct named *list, size_t index, culex_field *single)
{
    struct named element = {single, "", list->is_secret};
    *single = *list->field;
    single->shape = CULEX_SHAPE_SINGLE;
    if (list->field->shape == CULEX_SHAPE_SINGLE)
        snprintf(element.path, sizeof element.path, "%s", list->path);
    else
        snprintf(element.path, sizeof element.path, "%.200s[%zu]", list->path, index);
    return element;
}

/* All words of a list, each an element; or the only word of a field with one value. */
static culex_status elements_put(const struct given *given, const struct level *level,
                                 const struct named *named, const struct word *first,
                                 const struct word **ret_last)
{
    culex_status status = CULEX_OK;
    size_t count = 0;
    for (const struct word *word = first; word < given->words + given->count && status == CULEX_OK;
         word++) {
        culex_field single;
        if (word_of(word, level, named->field) != 1)
            continue;
        if (count > 0 && named->field->shape == CULEX_SHAPE_SINGLE)
            return word_fail(given, word, false, true, "%s is given twice", named->path);
        put_text(given, count > 0 ? "," : "");
        const struct named element = element_of(named, count++, &single);
        status = value_put(given, word, &element);
        *ret_last = word;
    }
    return status;
}

/* The only word of a field with one value, or all of a list. */
static culex_status words_put(const struct given *given, const struct level *level,
                              const culex_field *field, const struct word *first, size_t count)
{
    const struct named named = named_of(level, field);
    bool is_list = field->shape != CULEX_SHAPE_SINGLE;
    size_t start = given->out->len;
    const struct word *last = first;
    culex_status status;
    if (is_list && count == 1 && is_json_list(first->value)) {
        status = json_put(given, first, &named);
    } else {
        put_text(given, is_list ? "[" : "");
        status = elements_put(given, level, &named, first, &last);
        put_text(given, is_list ? "]" : "");
    }
    return status == CULEX_OK ? value_try(given, last, &named, start) : status;
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
        return word_fail(given, in, false, true, "%s is given as a whole too",
                         named_of(level, field).path);
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

/* ---- what is not there -------------------------------------------------------------------------
 */

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

static culex_status missing_tell(const culex_struct_type *type, struct ops_slice payload,
                                 culex_error *error)
{
    char names[300] = "", of[OPS_TYPE_SIZE];
    const char *first = NULL;
    size_t at = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        const culex_field *field = &type->fields[i];
        if ((field->flags & CULEX_FIELD_REQUIRED) == 0 || payload_has(payload, field))
            continue;
        if ((field->flags & CULEX_FIELD_ENCRYPTED) != 0)
            return ops_sealed_refuse(field, "required and ", error);
        first = first != NULL ? first : field->name;
        if (at < sizeof names)
            at += (size_t)snprintf(names + at, sizeof names - at, "%s%s (%s)", at > 0 ? ", " : "",
                                   field->name, ops_type_format(field, of));
    }
    if (first == NULL)
        return CULEX_OK;
    ops_usage(error, "required and not given: %s", names);
    snprintf(error->field, sizeof error->field, "%s", first);
    return CULEX_EUSAGE;
}

culex_status ops_given_names(const culex_struct_type *type, struct ops_slice object,
                             culex_error *error)
{
    char hint[HINT_SIZE];
    struct ops_scan scan;
    struct ops_slice name, value;
    if (!ops_scan_begin(object, &scan) || !scan.is_object)
        return CULEX_OK; /* the codec says what is wrong with it */
    while (ops_scan_next(&scan, &name, &value)) {
        int shown = (int)(name.len < SHOWN_MAX ? name.len : SHOWN_MAX);
        if (ops_field_stored(type, name) != NULL)
            continue;
        ops_usage(error, "%s has no param '%.*s'%s", type->name, shown, name.text,
                  ops_names_hint(type, name, hint, sizeof hint));
        snprintf(error->field, sizeof error->field, "%.*s", shown, name.text);
        return CULEX_EUSAGE;
    }
    return CULEX_OK;
}

culex_status ops_given_decode(const culex_struct_type *type, struct ops_slice payload,
                              culex_arena *arena, const void **ret_params, culex_error *error)
{
    culex_status status = missing_tell(type, payload, error);
    if (status == CULEX_OK &&
        culex_decode(type, arena, payload.text, payload.len, ret_params, error) != CULEX_OK)
        error->code = status = CULEX_EUSAGE;
    return status;
}

culex_status ops_given_object(const culex_struct_type *type, const char *what,
                              struct ops_slice object, culex_arena *arena, const void **ret_params,
                              culex_error *error)
{
    culex_buf text;
    culex_buf_init(&text, 0);
    const struct ops_payload payload = {what, &text, error};
    culex_status status = ops_payload_object(&payload, type, object);
    if (status == CULEX_OK)
        status = ops_given_decode(type, (struct ops_slice){text.data, text.len}, arena, ret_params,
                                  error);
    free(text.data);
    return status;
}
