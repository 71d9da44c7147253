#include "command/payload.h"

#include <stdlib.h>
#include <string.h>

#include <culex/schema.h>

#include "command/duration.h"
#include "command/guess.h"
#include "command/print.h"

enum {
    DEPTH_MAX = 16, /* of objects and lists inside each other, as the codec has it */
    SHOWN_MAX = 48, /* bytes of a name in a message */
    HINT_SIZE = 170
};

struct reader {
    const struct ops_payload *payload;
    const char *start, *at, *end;
    unsigned depth;
};

/* ---- texts ------------------------------------------------------------------------------------
 */

void ops_buf_put(culex_buf *buf, const char *text, size_t len)
{
    /* The only way into a culex_buf that is public is the codec, so the text is kept by hand. */
    if (buf->len + len + 1 > buf->cap) {
        buf->cap = (buf->len + len + 1) * 2;
        buf->data = ops_alloc(buf->data, buf->cap);
    }
    memcpy(buf->data + buf->len, text, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void ops_buf_quote(culex_buf *buf, struct ops_slice text)
{
    ops_buf_put(buf, "\"", 1);
    for (size_t i = 0; i < text.len; i++) {
        unsigned char letter = (unsigned char)text.text[i];
        char escape[8];
        if (letter < 0x20 || letter == '"' || letter == '\\') {
            snprintf(escape, sizeof escape, "\\u%04x", letter);
            ops_buf_put(buf, escape, strlen(escape));
        } else {
            ops_buf_put(buf, text.text + i, 1);
        }
    }
    ops_buf_put(buf, "\"", 1);
}

static void put(const struct reader *reader, const char *text)
{
    ops_buf_put(reader->payload->out, text, strlen(text));
}

/* ---- names ------------------------------------------------------------------------------------
 */

const culex_field *ops_field_named(const culex_struct_type *type, struct ops_slice name)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (ops_slice_is(name, type->fields[i].name))
            return &type->fields[i];
    }
    return NULL;
}

const culex_field *ops_field_stored(const culex_struct_type *type, struct ops_slice wire)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (ops_slice_is(wire, type->fields[i].wire))
            return &type->fields[i];
    }
    return NULL;
}

const char *ops_names_hint(const culex_struct_type *type, struct ops_slice name, char *ret_text,
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

bool ops_enum_has(const culex_field *field, const char *path, bool is_secret, struct ops_slice name,
                  char *ret_wrong, size_t size)
{
    const culex_enum_type *type = field->enum_type;
    struct ops_guess guess = ops_guess_begin(name.text, name.len);
    char all[HINT_SIZE] = "";
    size_t at = 0;
    for (size_t i = 0; i < type->value_count; i++) {
        if (ops_slice_is(name, type->values[i].name))
            return true;
        ops_guess_add(&guess, type->values[i].name);
        if (at < sizeof all)
            at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", i > 0 ? ", " : "",
                                   type->values[i].name);
    }
    if (guess.best != NULL && !is_secret)
        snprintf(ret_wrong, size, "%s: no value of %s; did you mean %s?", path, type->name,
                 guess.best);
    else
        snprintf(ret_wrong, size, "%s: no value of %s, which has %s", path, type->name, all);
    return false;
}

/* ---- what is wrong ----------------------------------------------------------------------------
 */

/* Who answers a program tells it the param. */
static culex_status field_note(culex_error *error, const char *path)
{
    snprintf(error->field, sizeof error->field, "%.*s", (int)sizeof error->field - 1, path);
    return CULEX_EUSAGE;
}

/* "a.b[3]: WRONG at byte 17 of --payload". */
static culex_status refuse(const struct reader *reader, const char *path, const char *at,
                           const char *wrong)
{
    ops_usage(reader->payload->error, "%s%s%s at byte %zu of %s", path, path[0] != '\0' ? ": " : "",
              wrong, (size_t)(at - reader->start), reader->payload->what);
    return field_note(reader->payload->error, path);
}

/* The same of words that begin with the path. */
static culex_status worded_refuse(const struct reader *reader, const char *path, const char *at,
                                  const char *wrong)
{
    refuse(reader, "", at, wrong);
    return field_note(reader->payload->error, path);
}

/* What the codec says of the field `v` alone, in words of the whole: its place is in another text.
 */
static void try_reword(const char *path, culex_error *error)
{
    static const char place[] = " at byte ";
    char text[CULEX_ERROR_TEXT_SIZE];
    bool is_of_v = error->text[0] == 'v' && strchr(":.[", error->text[1]) != NULL;
    const char *rest = error->text + is_of_v;
    char *found = strstr(error->text, place);
    for (char *next = found; next != NULL; next = strstr(next + 1, place))
        found = next;
    if (found != NULL &&
        found[strspn(found + sizeof place - 1, "0123456789") + sizeof place - 1] == '\0')
        *found = '\0';
    snprintf(text, sizeof text, "%s%s%.*s", path, is_of_v ? "" : ": ",
             CULEX_ERROR_TEXT_SIZE - OPS_PATH_SIZE - 1, rest);
    memcpy(error->text, text, sizeof text);
    error->code = field_note(error, path);
}

culex_status ops_payload_try(const culex_field *field, const char *path, bool is_secret,
                             struct ops_slice json, culex_error *error)
{
    culex_field alone = *field;
    alone.name = alone.wire = "v";
    alone.offset = 64;
    alone.has_offset = 0;
    alone.len_offset = 8;
    alone.flags |= is_secret ? (unsigned)CULEX_FIELD_SECRET : 0;
    size_t count = field->shape == CULEX_SHAPE_ARRAY ? field->count : 1;
    const culex_struct_type type = {"value", 64 + 16 + culex_schema_value_size(field) * count,
                                    &alone, 1};
    culex_arena *arena = culex_arena_create();
    char *text = ops_alloc(NULL, json.len + 8);
    int len = sprintf(text, "{\"v\":%.*s}", (int)json.len, json.text);
    const void *value;
    culex_status status = culex_decode(&type, arena, text, (size_t)len, &value, error);
    culex_arena_free(arena);
    free(text);
    if (status == CULEX_OK)
        return CULEX_OK;
    try_reword(path, error);
    if (field->kind == CULEX_KIND_BYTES && strstr(error->text, "base64") != NULL) {
        size_t at = strlen(error->text);
        snprintf(error->text + at, sizeof error->text - at, "; hexadecimal digits go behind hex:");
    }
    return CULEX_EUSAGE;
}

/* ---- durations and bytes ----------------------------------------------------------------------
 */

/* The value at `value`, as payloads have it: the codec's own text. */
static culex_status value_put(const struct ops_payload *payload, culex_kind kind, const void *value)
{
    const culex_field alone = {
        .name = "v", .wire = "v", .kind = kind, .flags = CULEX_FIELD_REQUIRED};
    const culex_struct_type type = {"value", 0, &alone, 1};
    culex_buf buf;
    culex_buf_init(&buf, 0);
    culex_status status = culex_encode(&type, value, &buf, payload->error);
    if (status == CULEX_OK)
        ops_buf_put(payload->out, buf.data + strlen("{\"v\":"), buf.len - strlen("{\"v\":}"));
    culex_buf_release(&buf);
    return status;
}

static int hex_value(char letter)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = letter != '\0' ? strchr(digits, letter | (letter >= 'A' ? 0x20 : 0)) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

/* In place of the digits; false where they are not pairs of hexadecimal digits. */
static bool hex_read(char *digits, size_t len)
{
    for (size_t i = 0; i + 1 < len; i += 2) {
        int high = hex_value(digits[i]), low = hex_value(digits[i + 1]);
        if (high < 0 || low < 0)
            return false;
        digits[i / 2] = (char)(high << 4 | low);
    }
    return len % 2 == 0;
}

static bool begins(struct ops_slice text, const char *with)
{
    return text.len >= strlen(with) && memcmp(text.text, with, strlen(with)) == 0;
}

/* The digits of hex:00ff and x"00ff". */
static bool digits_of(struct ops_slice text, struct ops_slice *ret_digits)
{
    bool is_quoted = begins(text, "x\"") && text.len >= 3 && text.text[text.len - 1] == '"';
    *ret_digits = (struct ops_slice){NULL, 0};
    if (is_quoted)
        *ret_digits = (struct ops_slice){text.text + 2, text.len - 3};
    else if (begins(text, "hex:"))
        *ret_digits = (struct ops_slice){text.text + 4, text.len - 4};
    return is_quoted || begins(text, "hex:");
}

static culex_status plain_refuse(const struct ops_payload *payload, const char *path,
                                 bool is_secret, const char *expected, struct ops_slice found)
{
    int len = (int)(found.len < SHOWN_MAX ? found.len : SHOWN_MAX);
    if (is_secret)
        ops_usage(payload->error, "%s: expected %s, found another value (secret)", path, expected);
    else
        ops_usage(payload->error, "%s: expected %s, found %.*s%s", path, expected, len, found.text,
                  len == 0 ? "nothing" : "");
    return field_note(payload->error, path);
}

static culex_status bytes_put(const struct ops_payload *payload, const char *path, bool is_secret,
                              struct ops_slice text)
{
    struct ops_slice digits;
    if (!digits_of(text, &digits)) {
        size_t before = begins(text, "base64:") ? strlen("base64:") : 0;
        ops_buf_quote(payload->out, (struct ops_slice){text.text + before, text.len - before});
        return CULEX_OK;
    }
    char *copy = ops_copy(digits.text, digits.len);
    const culex_bytes bytes = {(const uint8_t *)copy, digits.len / 2};
    culex_status status =
        hex_read(copy, digits.len)
            ? value_put(payload, CULEX_KIND_BYTES, &bytes)
            : plain_refuse(payload, path, is_secret, "pairs of hexadecimal digits", text);
    free(copy);
    return status;
}

culex_status ops_payload_plain(const struct ops_payload *payload, const culex_field *field,
                               const char *path, bool is_secret, struct ops_slice text)
{
    culex_duration span;
    if (field->kind == CULEX_KIND_BYTES)
        return bytes_put(payload, path, is_secret, text);
    if (!ops_duration_read(text.text, text.len, &span))
        return plain_refuse(payload, path, is_secret,
                            "a duration, numbers with " OPS_DURATION_UNITS ", as 1h30m", text);
    return value_put(payload, CULEX_KIND_DURATION, &span);
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static char peek(struct reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\n\r", *reader->at) != NULL &&
           *reader->at != '\0')
        reader->at++;
    return reader->at < reader->end ? *reader->at : '\0';
}

static bool take(struct reader *reader, char letter)
{
    bool is_there = peek(reader) == letter && reader->at < reader->end;
    reader->at += is_there;
    return is_there;
}

/* Behind the quote that ends the string at `at`; NULL where none does. */
static const char *string_end(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++) {
        if (*at == '\\' && ++at == end)
            return NULL;
    }
    return at < end ? at + 1 : NULL;
}

/* A text that was cut off has a string, an object or a list without its end. */
static bool is_cut_off(struct ops_slice text)
{
    const char *end = text.text + text.len;
    size_t depth = 0;
    for (const char *at = text.text; at < end;) {
        const char *next = *at == '"' ? string_end(at, end) : at + 1;
        if (next == NULL)
            return true;
        depth += *at == '{' || *at == '[';
        depth -= (*at == '}' || *at == ']') && depth > 0;
        at = next;
    }
    return depth > 0;
}

/* A value that is neither an object nor a list, or one where neither may be. */
static struct ops_slice token_take(struct reader *reader)
{
    const char *start = reader->at;
    size_t depth = 0;
    while (reader->at < reader->end) {
        char letter = *reader->at;
        if (depth == 0 && strchr(" \t\n\r,:}]", letter) != NULL)
            break;
        reader->at = letter == '"' ? string_end(reader->at, reader->end) : reader->at + 1;
        depth += letter == '{' || letter == '[';
        depth -= letter == '}' || letter == ']';
        if (letter == '"' && depth == 0)
            break;
    }
    return (struct ops_slice){start, (size_t)(reader->at - start)};
}

/* The text of a string, whose escapes are quotes and strokes at most: what a duration or bytes may
 * have. Its text is owned; NULL for any other value. */
static struct ops_slice string_copy(struct ops_slice token)
{
    struct ops_slice none = {NULL, 0};
    if (token.len < 2 || token.text[0] != '"')
        return none;
    char *copy = ops_alloc(NULL, token.len);
    size_t len = 0;
    for (size_t i = 1; i + 1 < token.len; i++) {
        if (token.text[i] == '\\' && memchr("\"\\/", token.text[i + 1], 3) == NULL) {
            free(copy);
            return none;
        }
        i += token.text[i] == '\\';
        copy[len++] = token.text[i];
    }
    return (struct ops_slice){copy, len};
}

static culex_status token_put(const struct reader *reader, const culex_field *field,
                              const char *path, bool is_secret, struct ops_slice token)
{
    bool has_plain = field->kind == CULEX_KIND_DURATION || field->kind == CULEX_KIND_BYTES;
    struct ops_slice plain = {NULL, 0};
    culex_status status = CULEX_OK;
    if (has_plain)
        plain = string_copy(token);
    if (plain.text != NULL)
        status = ops_payload_plain(reader->payload, field, path, is_secret, plain);
    else
        ops_buf_put(reader->payload->out, token.text, token.len);
    free((char *)plain.text);
    return status;
}

/* One value that is no struct. */
static culex_status token_read(struct reader *reader, const culex_field *field, const char *path,
                               bool is_secret)
{
    char wrong[CULEX_ERROR_TEXT_SIZE];
    culex_error *error = reader->payload->error;
    culex_buf *out = reader->payload->out;
    size_t from = out->len;
    peek(reader);
    const char *at = reader->at;
    struct ops_slice token = token_take(reader);
    if (field->kind == CULEX_KIND_ENUM && token.len >= 2 && token.text[0] == '"' &&
        !ops_enum_has(field, path, is_secret, (struct ops_slice){token.text + 1, token.len - 2},
                      wrong, sizeof wrong))
        return worded_refuse(reader, path, at, wrong);
    culex_field single = *field;
    single.shape = CULEX_SHAPE_SINGLE;
    culex_status status = token_put(reader, &single, path, is_secret, token);
    if (status == CULEX_OK)
        status = ops_payload_try(&single, path, is_secret,
                                 (struct ops_slice){out->data + from, out->len - from}, error);
    if (status == CULEX_OK)
        return CULEX_OK;
    memcpy(wrong, error->text, sizeof wrong);
    return worded_refuse(reader, path, at, wrong);
}

static culex_status object_read(struct reader *reader, const culex_struct_type *type,
                                const char *path, bool is_secret);

static culex_status value_read(struct reader *reader, const culex_field *field, const char *path,
                               bool is_secret)
{
    return field->kind == CULEX_KIND_STRUCT
               ? object_read(reader, field->struct_type, path, is_secret)
               : token_read(reader, field, path, is_secret);
}

static culex_status enter(struct reader *reader, char open, const char *path, const char *expected)
{
    if (!take(reader, open))
        return refuse(reader, path, reader->at, expected);
    if (++reader->depth > DEPTH_MAX)
        return refuse(reader, path, reader->at, "too many objects and lists inside each other");
    put(reader, open == '{' ? "{" : "[");
    return CULEX_OK;
}

/* Behind a value: whether another one follows. */
static culex_status next_take(struct reader *reader, char close, const char *path,
                              bool *ret_is_next)
{
    *ret_is_next = take(reader, ',');
    if (*ret_is_next) {
        put(reader, ",");
        return CULEX_OK;
    }
    reader->depth--;
    put(reader, close == '}' ? "}" : "]");
    return take(reader, close) ? CULEX_OK
                               : refuse(reader, path, reader->at,
                                        close == '}' ? "no ',' and no '}' behind a value"
                                                     : "no ',' and no ']' behind a value");
}

static culex_status element_read(struct reader *reader, const culex_field *field, const char *path,
                                 size_t index, bool is_secret)
{
    char element[OPS_PATH_SIZE];
    snprintf(element, sizeof element, "%.200s[%zu]", path, index);
    if (peek(reader) == 'n')
        return refuse(reader, element, reader->at, "null is no value");
    return value_read(reader, field, element, is_secret);
}

static culex_status list_read(struct reader *reader, const culex_field *field, const char *path,
                              bool is_secret)
{
    culex_status status = enter(reader, '[', path, "expected a list, [VALUE,...],");
    bool is_next = status == CULEX_OK && peek(reader) != ']';
    if (status == CULEX_OK && !is_next)
        return next_take(reader, ']', path, &is_next);
    for (size_t i = 0; is_next && status == CULEX_OK; i++) {
        status = element_read(reader, field, path, i, is_secret);
        if (status == CULEX_OK)
            status = next_take(reader, ']', path, &is_next);
    }
    return status;
}

static culex_status field_read(struct reader *reader, const culex_field *field, const char *path,
                               bool is_secret)
{
    is_secret |= (field->flags & CULEX_FIELD_SECRET) != 0;
    if (peek(reader) == 'n') { /* null: as one that is not there */
        struct ops_slice token = token_take(reader);
        ops_buf_put(reader->payload->out, token.text, token.len);
        return ops_slice_is(token, "null") ? CULEX_OK
                                           : refuse(reader, path, token.text, "no value");
    }
    return field->shape == CULEX_SHAPE_SINGLE ? value_read(reader, field, path, is_secret)
                                              : list_read(reader, field, path, is_secret);
}

/* ---- objects ----------------------------------------------------------------------------------
 */

static culex_status name_take(struct reader *reader, const char *path, struct ops_slice *ret_name)
{
    if (peek(reader) != '"')
        return refuse(reader, path, reader->at, "no name in quotes");
    const char *start = reader->at + 1;
    reader->at = string_end(reader->at, reader->end);
    *ret_name = (struct ops_slice){start, (size_t)(reader->at - 1 - start)};
    return take(reader, ':') ? CULEX_OK : refuse(reader, path, reader->at, "no ':' behind a name");
}

static culex_status stranger_refuse(const struct reader *reader, const culex_struct_type *type,
                                    const char *path, struct ops_slice name)
{
    char hint[HINT_SIZE], whole[OPS_PATH_SIZE];
    int len = (int)(name.len < SHOWN_MAX ? name.len : SHOWN_MAX);
    const char *dot = path[0] != '\0' ? "." : "";
    ops_usage(reader->payload->error, "%s%s%s has no param '%.*s'%s", path,
              path[0] != '\0' ? ": " : "", type->name, len, name.text,
              ops_names_hint(type, name, hint, sizeof hint));
    snprintf(whole, sizeof whole, "%.170s%s%.*s", path, dot, len, name.text);
    return field_note(reader->payload->error, whole);
}

culex_status ops_sealed_refuse(const culex_field *field, const char *is, culex_error *error)
{
    ops_fail(error, CULEX_ENOKEY, "%s is %sencrypted, and there is no key for it", field->name, is);
    snprintf(error->field, sizeof error->field, "%s", field->name);
    return CULEX_ENOKEY;
}

/* In the store's name, with its mark or without, or in that of the schema. */
static culex_status field_find(const struct reader *reader, const culex_struct_type *type,
                               const char *path, struct ops_slice name,
                               const culex_field **ret_field)
{
    bool is_marked = name.len > 0 && name.text[0] == '!';
    const struct ops_slice bare = {name.text + is_marked, name.len - is_marked};
    const culex_field *field = ops_field_stored(type, bare);
    *ret_field = field != NULL ? field : ops_field_named(type, bare);
    if (*ret_field == NULL)
        return stranger_refuse(reader, type, path, name);
    if (((*ret_field)->flags & CULEX_FIELD_ENCRYPTED) == 0)
        return CULEX_OK;
    return ops_sealed_refuse(*ret_field, "", reader->payload->error);
}

static culex_status member_read(struct reader *reader, const culex_struct_type *type,
                                const char *path, bool is_secret)
{
    char inner[OPS_PATH_SIZE];
    struct ops_slice name = {"", 0};
    const culex_field *field;
    culex_status status = name_take(reader, path, &name);
    if (status == CULEX_OK)
        status = field_find(reader, type, path, name, &field);
    if (status != CULEX_OK)
        return status;
    snprintf(inner, sizeof inner, "%.170s%s%.64s", path, path[0] != '\0' ? "." : "", field->name);
    put(reader, (field->flags & CULEX_FIELD_MUST_UNDERSTAND) != 0 ? "\"!" : "\"");
    put(reader, field->wire);
    put(reader, "\":");
    return field_read(reader, field, inner, is_secret);
}

static culex_status object_read(struct reader *reader, const culex_struct_type *type,
                                const char *path, bool is_secret)
{
    culex_status status = enter(reader, '{', path, "expected an object, {\"NAME\":VALUE,...},");
    bool is_next = status == CULEX_OK && peek(reader) != '}';
    if (status == CULEX_OK && !is_next)
        return next_take(reader, '}', path, &is_next);
    while (is_next && status == CULEX_OK) {
        status = member_read(reader, type, path, is_secret);
        if (status == CULEX_OK)
            status = next_take(reader, '}', path, &is_next);
    }
    return status;
}

/* ---- all of it --------------------------------------------------------------------------------
 */

static culex_status reader_begin(const struct ops_payload *payload, const char *path,
                                 struct ops_slice text, struct reader *ret_reader)
{
    *ret_reader = (struct reader){payload, text.text, text.text, text.text + text.len, 0};
    return is_cut_off(text) ? refuse(ret_reader, path, ret_reader->end, "the JSON is cut off")
                            : CULEX_OK;
}

static culex_status reader_end(struct reader *reader, const char *path)
{
    peek(reader);
    return reader->at == reader->end
               ? CULEX_OK
               : refuse(reader, path, reader->at, "more text behind the value");
}

culex_status ops_payload_object(const struct ops_payload *payload, const culex_struct_type *type,
                                struct ops_slice text)
{
    struct reader reader;
    culex_status status = reader_begin(payload, "", text, &reader);
    if (status == CULEX_OK)
        status = object_read(&reader, type, "", false);
    return status == CULEX_OK ? reader_end(&reader, "") : status;
}

culex_status ops_payload_value(const struct ops_payload *payload, const culex_field *field,
                               const char *path, bool is_secret, struct ops_slice text)
{
    struct reader reader;
    culex_status status = reader_begin(payload, path, text, &reader);
    if (status == CULEX_OK)
        status = field_read(&reader, field, path, is_secret);
    return status == CULEX_OK ? reader_end(&reader, path) : status;
}
